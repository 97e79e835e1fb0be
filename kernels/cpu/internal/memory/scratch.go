package memory

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Scratch is the workers' own result vectors, which are kept from product to product.
type Scratch[V sparse.Value] struct {
	Mem    *Memory
	Use    sync.Mutex // held by a product that uses the vectors
	vec    []*mem.Region
	held   atomic.Int64 // bytes
	closed bool
}

// Held returns the number of bytes that the vectors take.
func (s *Scratch[V]) Held() int64 { return s.held.Load() }

// VectorsIfRoom is Vectors, but fails if the process would have less memory left than the vectors need.
func (s *Scratch[V]) VectorsIfRoom(n, m int) ([][]V, error) {
	need := int64(n)*int64(m)*mem.Size[V]() - s.held.Load()
	if _, ok := mem.Fits(2 * need); !ok {
		return nil, fmt.Errorf("%w: %d bytes for the results of %d workers", kernels.ErrOutOfMemory, need, n)
	}
	return s.Vectors(n, m)
}

// Vectors returns n vectors of m elements. They are zero, and the caller clears them after use.
func (s *Scratch[V]) Vectors(n, m int) ([][]V, error) {
	if s.closed {
		return nil, kernels.ErrClosed
	}
	out := make([][]V, n)
	for i := range out {
		if i == len(s.vec) {
			s.vec = append(s.vec, &mem.Region{})
		}
		if err := s.grow(i, int64(m)*mem.Size[V]()); err != nil {
			return nil, err
		}
		out[i], _ = mem.Slice[V](s.vec[i].Bytes(), int64(m))
	}
	return out, nil
}

// grow makes vector i at least bytes long.
func (s *Scratch[V]) grow(i int, bytes int64) error {
	old := s.vec[i]
	size := int64(len(old.Bytes()))
	if size >= bytes {
		return nil
	}
	if have, ok := mem.Fits(bytes); !ok {
		return fmt.Errorf("%w: a vector of %d bytes for each worker, %d are available", kernels.ErrOutOfMemory, bytes, have)
	}
	r, err := s.Mem.region(bytes)
	if err != nil {
		return err
	}
	s.vec[i] = r
	s.held.Add(bytes - size)
	return old.Free()
}

func (s *Scratch[V]) drop() error {
	s.Use.Lock()
	defer s.Use.Unlock()
	var errs []error
	for _, r := range s.vec {
		errs = append(errs, r.Free())
	}
	s.vec, s.closed = nil, true
	s.held.Store(0)
	return errors.Join(errs...)
}
