package triangular

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/sparse"
)

// args are the arguments of the kernels, for the rows of a segment:
//
//	bare            x[i] = alpha*scale[i]*b[i]
//	listed          as single, with b[row] and x[row] for the row that is the first of its indices
//	single, runs    x[i*step] = alpha*scale[i]*b[i*step] + sum over the entries k of row i of val[k]*all[idx[k]]
//	blocks          the same for 8 rows i, whose elements of b and x are 8 successive ones
//
// where all is the vector that x is part of. See store for the arrays.
type args[V sparse.Value] struct {
	rows  int // rows, or groups of 8 rows
	scale *V
	count *uint32
	mask  *uint8
	idx   *int32
	val   *V
	b, x  *V  // elements of the first row; of the row with the smallest number for bare, and for blocks of that of the first group
	step  int // bytes from there to the next row or group
	all   *V
	alpha V
}

// Solve runs kernels.TriangularSolve on a triangle of dev.
func Solve[V sparse.Value](s *memory.Scratch[V], op *kernels.TriangularSolve[V]) (err error) {
	t, ok := op.A.(*Triangle[V])
	switch {
	case !ok || t == nil:
		return fmt.Errorf("%w: a triangle that was packed by another kind of device or for other values", kernels.ErrArgument)
	case t.dev != s.Mem:
		return fmt.Errorf("%w: a triangle that %s packed", kernels.ErrArgument, t.dev.ID)
	case op.B.Cols != op.X.Cols || op.X.Cols < 1 || op.B.Stride < op.B.Cols || op.X.Stride < op.X.Cols:
		return fmt.Errorf("%w: b and x have %d and %d vectors at strides of %d and %d", kernels.ErrArgument, op.B.Cols, op.X.Cols, op.B.Stride, op.X.Stride)
	}
	t.use.Lock()
	defer t.use.Unlock()
	if t.freed {
		return errFreed
	}
	v := memory.NewViews(s.Mem)
	defer v.Close(&err)
	b, x := view(v, "b", op.B, t.n), view(v, "x", op.X, t.n)
	if v.Err != nil {
		return v.Err
	}
	if op.X.Cols == 1 && op.B.Stride == 1 && op.X.Stride == 1 {
		return t.one(op.Alpha, b, x)
	}
	return t.many(s, op.Alpha, b, op.B.Stride, x, op.X.Stride, op.X.Cols)
}

// view opens the rows of several vectors of n elements.
func view[V sparse.Value](v *memory.Views, name string, m kernels.MultiVector[V], n int) []V {
	need := int64(max(n-1, 0))*int64(m.Stride) + int64(m.Cols)
	if n == 0 {
		need = 0
	}
	if v.Err != nil {
		return nil
	}
	if m.Val.Len < need {
		v.Err = fmt.Errorf("%w: %s has %d elements, it needs %d", kernels.ErrArgument, name, m.Val.Len, need)
		return nil
	}
	if all := memory.View(v, name, m.Val, m.Val.Len); v.Err == nil {
		return all[:need]
	}
	return nil
}

// SolveHost solves for one vector in host memory, as TriangularSolve does. b may be x.
func (t *Triangle[V]) SolveHost(alpha V, b, x []V) error {
	t.use.Lock()
	defer t.use.Unlock()
	switch {
	case t.freed:
		return errFreed
	case len(b) != t.n || len(x) != t.n:
		return fmt.Errorf("%w: b and x have %d and %d elements, they need %d", kernels.ErrArgument, len(b), len(x), t.n)
	}
	return t.one(alpha, b, x)
}

// one solves for one vector.
func (t *Triangle[V]) one(alpha V, b, x []V) error {
	if len(t.phases) > 1 && t.dev.Pool.Size > 1 {
		return t.pipeline(alpha, b, x)
	}
	return t.dev.Pool.Run(1, func(int) { t.sequential(alpha, b, x) })
}

// sequential solves in the calling goroutine.
func (t *Triangle[V]) sequential(alpha V, b, x []V) {
	if t.exact != nil {
		t.exact.solve(t.upper, alpha, b, x)
		return
	}
	for k := range t.phases {
		p := &t.phases[k]
		for _, piece := range p.far {
			t.segments(piece, alpha, b, x)
		}
		t.near(p, alpha, b, x)
	}
}

// near adds the entries of a phase that are not far, and solves its rows. The far ones were added to x.
func (t *Triangle[V]) near(p *phase, alpha V, b, x []V) {
	if p.far != nil {
		alpha, b = 1, x
	}
	t.segments(p.near, alpha, b, x)
}

// many solves for several vectors, which are stored row by row. The workers share the vectors.
func (t *Triangle[V]) many(s *memory.Scratch[V], alpha V, b []V, ldb int, x []V, ldx, cols int) error {
	workers := min(t.dev.Pool.Size, cols)
	s.Use.Lock()
	defer s.Use.Unlock()
	columns, err := s.Vectors(workers, t.n)
	if err != nil {
		return err
	}
	return t.dev.Pool.Run(workers, func(w int) {
		u := columns[w]
		for j := int(par.Cut(int64(cols), workers, w)); j < int(par.Cut(int64(cols), workers, w+1)); j++ {
			for i := range u {
				u[i] = b[i*ldb+j]
			}
			t.sequential(alpha, u, u)
			for i, v := range u {
				x[i*ldx+j] = v
			}
		}
		clear(u)
	})
}

// segments computes the rows of segments in order.
func (t *Triangle[V]) segments(all []segment, alpha V, b, x []V) {
	for i := range all {
		if !t.assembly(&all[i], alpha, b, x) {
			t.loop(&all[i], alpha, b, x)
		}
	}
}

// assembly computes the rows of a segment with a kernel. It returns false if there is none.
func (t *Triangle[V]) assembly(s *segment, alpha V, b, x []V) bool {
	if t.level < simd.AVX2 {
		return false
	}
	first, step := t.row(s.first), 1
	if t.upper {
		step = -1
	}
	rows := s.rows
	switch s.kind {
	case listed:
		first, step = 0, 0
	case bare:
		first = min(first, t.row(s.first+rows-1))
	case blocks:
		first, step, rows = min(first, t.row(s.first+group-1)), step*group, rows/group
	}
	st := &t.store
	a := args[V]{rows: rows, scale: at(st.scale, s.scale), count: at(st.count, s.count), mask: at(st.mask, s.mask),
		idx: at(st.idx, s.idx), val: at(st.val, s.val), b: &b[first], x: &x[first], step: step * sizeOf[V](), all: &x[0], alpha: alpha}
	return call(t.level, s.kind, t.upper, &a)
}

// at returns the address of an element, or nil if there is none.
func at[T any](s []T, i int64) *T {
	if i >= int64(len(s)) {
		return nil
	}
	return &s[i]
}
