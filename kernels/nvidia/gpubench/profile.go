package main

import (
	"errors"

	"github.com/msrep-go/msrep/kernels"
)

// profile lets a profiler count one call of f, after a call that fills the caches.
func (b *bench) profile(f func() error) error {
	d, ok := b.dev.(interface{ Profile(on bool) error })
	if !ok {
		return kernels.ErrNotSupported
	}
	if err := errors.Join(f(), b.stream.Sync(), d.Profile(true)); err != nil {
		return err
	}
	return errors.Join(f(), b.stream.Sync(), d.Profile(false))
}
