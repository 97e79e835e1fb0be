//go:build !linux

package mem

import "errors"

// move fails: this system cannot move pages.
func move(b, to []byte) error { return errors.ErrUnsupported }
