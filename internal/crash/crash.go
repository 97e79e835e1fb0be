// Package crash makes errors of panics: one line that says what happened, and where.
package crash

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Error is a panic that was recovered.
type Error struct {
	Value any    // what it was called with
	Where string // file:line, with the file's folder
}

func (e *Error) Error() string { return fmt.Sprintf("%v (%s)", e.Value, e.Where) }

// Recovered is the error of r, which the deferred function that calls it has recovered. An
// *Error that was raised again stays as it is.
func Recovered(r any) *Error {
	if e, ok := r.(*Error); ok {
		return e
	}
	return &Error{Value: r, Where: where()}
}

// where is the place outside the runtime that panicked: the first one below the panic.
func where() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	panicked := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicked && !inRuntime {
			folder, file := filepath.Split(f.File)
			return fmt.Sprintf("%s/%s:%d", filepath.Base(folder), file, f.Line)
		}
		if !more {
			return "an unknown place"
		}
		panicked = panicked || inRuntime
	}
}
