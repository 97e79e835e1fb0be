package cpu

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// scratch is the workers' own result vectors, which are kept from product to product.
type scratch[V sparse.Value] struct {
	mu     sync.Mutex
	vec    []*mem.Region
	held   atomic.Int64 // bytes
	closed bool
}

// vectors returns n vectors of m elements. They are zero, and the caller clears them after use.
func (s *scratch[V]) vectors(d *Device, n, m int) ([][]V, error) {
	if s.closed {
		return nil, kernels.ErrClosed
	}
	out := make([][]V, n)
	for i := range out {
		if i == len(s.vec) {
			s.vec = append(s.vec, &mem.Region{})
		}
		if err := s.grow(d, i, int64(m)*mem.Size[V]()); err != nil {
			return nil, err
		}
		out[i], _ = mem.Slice[V](s.vec[i].Bytes(), int64(m))
	}
	return out, nil
}

// grow makes vector i at least bytes long.
func (s *scratch[V]) grow(d *Device, i int, bytes int64) error {
	old := s.vec[i]
	size := int64(len(old.Bytes()))
	if size >= bytes {
		return nil
	}
	if have, ok := mem.Fits(bytes); !ok {
		return fmt.Errorf("%w: a vector of %d bytes for each worker, %d are available", kernels.ErrOutOfMemory, bytes, have)
	}
	r, err := d.region(bytes)
	if err != nil {
		return err
	}
	s.vec[i] = r
	s.held.Add(bytes - size)
	return old.Free()
}

func (s *scratch[V]) drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.vec {
		errs = append(errs, r.Free())
	}
	s.vec, s.closed = nil, true
	s.held.Store(0)
	return errors.Join(errs...)
}
