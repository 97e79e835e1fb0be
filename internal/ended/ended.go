// Package ended reports whether work ended because its context ended, and ends a context
// by signals.
package ended

import (
	"context"
	"errors"
	"slices"
)

// ByContext replaces err by the error of ctx and returns true if err consists only of that
// error, alone or joined from several parts of the work. ctx may be nil.
func ByContext(ctx context.Context, err *error) bool {
	if ctx == nil || ctx.Err() == nil || !only(*err, ctx.Err()) {
		return false
	}
	*err = ctx.Err()
	return true
}

// only reports whether err is end, or several errors that are all end.
func only(err, end error) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(several.Unwrap(), func(e error) bool { return !only(e, end) })
	}
	return errors.Is(err, end)
}
