package sparse

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
)

// InputError is bad input: a file or an argument that is not what it has to be.
// The command turns it into exit code 2.
type InputError struct {
	Subject string // file or argument; "" where there is none
	Line    int64  // 1-based line in the file; 0 where lines mean nothing
	Msg     string // what is wrong, and what would be right
	Err     error  // cause, or nil
}

func (e *InputError) Error() string {
	msg := e.Msg
	if e.Err != nil {
		if msg != "" {
			msg += ": "
		}
		msg += e.Err.Error()
	}
	switch {
	case e.Subject != "" && e.Line > 0:
		return fmt.Sprintf("%s:%d: %s", e.Subject, e.Line, msg)
	case e.Subject != "":
		return e.Subject + ": " + msg
	case e.Line > 0:
		return fmt.Sprintf("line %d: %s", e.Line, msg)
	}
	return msg
}

// Unwrap gives the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Inputf makes an InputError without a line.
func Inputf(file, format string, args ...any) error {
	return &InputError{Subject: file, Msg: fmt.Sprintf(format, args...)}
}

// InputLinef makes an InputError with a line.
func InputLinef(file string, line int64, format string, args ...any) error {
	return &InputError{Subject: file, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// IsInput reports whether err says that the input, not the program, is at fault.
func IsInput(err error) bool {
	var e *InputError
	return errors.As(err, &e)
}

// LostFile is the error of a panic with r that came from reading a mapped file that no
// longer has the bytes, and nil of any other. Where debug.SetPanicOnFault is set such reads
// panic; else they end the program.
func LostFile(r any) error {
	fault, ok := r.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	name, ok := mem.FileOf(fault.Addr())
	if !ok {
		return nil
	}
	return Inputf(name, "cannot be read any more: the disk failed, or another program cut the file")
}
