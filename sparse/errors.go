package sparse

import (
	"errors"
	"fmt"
)

// InputError reports bad input: an invalid file or argument. The command msrep ends with
// exit code 2 for it.
type InputError struct {
	Subject string // file or argument; "" if there is none
	Line    int64  // 1-based line in the file; 0 if it does not apply
	Msg     string // what is wrong, and what is expected
	Err     error  // cause, or nil
}

// Error returns Subject, Line and Msg as one text, such as "a.mtx:3: no number".
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

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Inputf returns an *InputError about a file or an argument, without a line, with a
// formatted message.
func Inputf(file, format string, args ...any) error {
	return &InputError{Subject: file, Msg: fmt.Sprintf(format, args...)}
}

// InputLinef returns an *InputError about file, at a 1-based line, with a formatted
// message.
func InputLinef(file string, line int64, format string, args ...any) error {
	return &InputError{Subject: file, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// ErrComplex is the cause of the *InputError for a file with complex values.
var ErrComplex = errors.New("complex values are not supported")

// IsInput reports whether err is or wraps an *InputError: the input is wrong, not the
// program.
func IsInput(err error) bool {
	var e *InputError
	return errors.As(err, &e)
}
