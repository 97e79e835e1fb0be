package space

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// reordered is an operator whose vectors on devices may have an order of their own: a msrep.Plan with
// PlanOptions.Reorder. Reordering is nil if they have that of the matrix.
type reordered interface {
	Reordering() []int32
	Permute(dst, src []float64) error
	PermuteBack(dst, src []float64) error
}

// orderOf returns a as a reordered operator, or nil if its vectors have the order of the matrix.
func orderOf(a Resident) reordered {
	if o, ok := a.(reordered); ok && o.Reordering() != nil {
		return o
	}
	return nil
}

// write copies src, in the order of the matrix, to v.
func (s *device) write(v *msrep.Vector[float64], src []float64) error {
	if s.order == nil {
		return v.Write(src)
	}
	if err := s.makeBuffer(len(src)); err != nil {
		return err
	}
	if err := s.order.Permute(s.buffer, src); err != nil {
		return err
	}
	return v.Write(s.buffer)
}

// read copies v to dst, in the order of the matrix.
func (s *device) read(v *msrep.Vector[float64], dst []float64) error {
	if s.order == nil {
		return v.Read(dst)
	}
	if err := s.makeBuffer(len(dst)); err != nil {
		return err
	}
	if err := v.Read(s.buffer); err != nil {
		return err
	}
	return s.order.PermuteBack(dst, s.buffer)
}

// makeBuffer makes buffer a vector of n elements.
func (s *device) makeBuffer(n int) error {
	if len(s.buffer) == n {
		return nil
	}
	if have, ok := mem.Fits(8 * int64(n)); !ok {
		return sparse.Inputf("vector", "%d elements: a copy in another order takes %d bytes of host memory, %d are available", n, 8*n, have)
	}
	s.buffer = make([]float64, n)
	return nil
}

// runsOnVectors returns the preconditioner if it runs on the vectors of the solve, else nil. One that runs on devices has
// the order of the matrix.
func (s *device) runsOnVectors() onVectors {
	if m, ok := s.m.(onVectors); ok && s.order == nil {
		return m
	}
	return nil
}
