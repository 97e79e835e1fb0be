//go:build !linux

package mem

import "errors"

// move puts the pages of b in place of the first ones of to, where the system can do that.
func move(b, to []byte) error { return errors.ErrUnsupported }
