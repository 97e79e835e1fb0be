// Package rescue returns panics as errors, so that no panic leaves the public API.
package rescue

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/lostfile"
)

// To stores the panic of the calling function, if there is one, as an error in *err. Call it with defer.
func To(err *error) {
	if r := recover(); r != nil {
		*err = Error(r)
	}
}

// Error returns the error for r, a value that recover has returned: a *sparse.InputError if the panic comes from a
// mapped file that another program has truncated.
func Error(r any) error {
	if err := lostfile.Error(r); err != nil {
		return err
	}
	return fmt.Errorf("msrep: internal error: %w", crash.Recovered(r))
}
