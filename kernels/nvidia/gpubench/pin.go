package main

import (
	"time"

	"github.com/msrep-go/msrep/kernels"
)

// pinning is the result of pinning the arrays of a matrix.
type pinning struct {
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds,omitempty"`
	Error   string  `json:"error,omitempty"` // why the arrays are not pinned
}

// pin pins memory if that was requested, and returns nil if not. release unpins it.
func (b *bench) pin(memory ...[]byte) (p *pinning, release func() error, err error) {
	none := func() error { return nil }
	if !*pin {
		return nil, none, nil
	}
	d, ok := b.dev.(interface {
		Register(memory ...[]byte) (release func() error, err error)
	})
	if !ok {
		return nil, nil, kernels.ErrNotSupported
	}
	p = &pinning{}
	for _, m := range memory {
		p.Bytes += int64(len(m))
	}
	begin := time.Now()
	release, err = d.Register(memory...)
	p.Seconds = time.Since(begin).Seconds()
	if err != nil {
		p.Error = err.Error()
		return p, none, nil
	}
	return p, release, nil
}
