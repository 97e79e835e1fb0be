package cluster

import (
	"context"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// Piece returns the first element of vectors that this rank has, and the number of elements on all ranks. Only call it
// for a square matrix, as solvers do.
func (p *Plan[V]) Piece() (first, total int) {
	if p.none() {
		return 0, 0
	}
	return p.rowCut[p.rank], p.rows
}

// Fixed reports whether the sums of solvers have the same bits as in one process. They do if the plan is deterministic
// and the first row of each rank is a multiple of solver.SumChunk.
func (p *Plan[V]) Fixed() bool {
	if !p.whole {
		return false
	}
	for _, c := range p.rowCut {
		if c%solver.SumChunk != 0 && c != p.rows {
			return false
		}
	}
	return true
}

// Sum replaces each element of v by its sum over all ranks, with the same bits on each rank.
func (p *Plan[V]) Sum(_ context.Context, v []float64) error {
	if p.none() {
		return errNoPlan
	}
	return p.sys.comm.Sum(v)
}

// Max replaces each element of v by its maximum over all ranks.
func (p *Plan[V]) Max(_ context.Context, v []float64) error {
	if p.none() {
		return errNoPlan
	}
	return p.sys.comm.Max(v)
}

// Gather returns the whole vector on rank 0, joined from the pieces of all ranks, and nil on other ranks. All ranks
// call it.
func Gather[V sparse.Value](c Comm, piece []V) ([]V, error) {
	if c == nil {
		return nil, errNoComm
	}
	send := make([][]byte, c.Size())
	send[0] = mem.Bytes(piece)
	received, err := c.Swap(send)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	n := 0
	for _, b := range received {
		n += len(b)
	}
	v := make([]V, 0, int64(n)/mem.Size[V]())
	for _, b := range received {
		part, _ := mem.Slice[V](b, int64(len(b))/mem.Size[V]())
		v = append(v, part...)
	}
	return v, nil
}
