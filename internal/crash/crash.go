// Package crash converts panics to errors: one line with the value and the place of the
// panic.
package crash

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Error is a recovered panic.
type Error struct {
	Value any    // argument of panic
	Where string // file:line, with the file's folder
}

func (e *Error) Error() string { return fmt.Sprintf("%v (%s)", e.Value, e.Where) }

// Recovered returns the error for r, which the calling deferred function has recovered.
// If r is an *Error that was raised again, it returns r.
func Recovered(r any) *Error {
	if e, ok := r.(*Error); ok {
		return e
	}
	return &Error{Value: r, Where: where()}
}

// where returns the place outside the runtime that panicked: the first frame below the
// panic.
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
