package leftlooking

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// Refactor replaces the factors by those of a matrix with the pattern of the one that was
// factored, with the same pivots. Info().Growth then tells whether the pivots suit the new
// values: where it is far above 1, a new Factor is more accurate.
//
// A pivot that is zero or not finite is a *SingularError; the factors must then not be
// used before another Refactor succeeds.
func (f *LU) Refactor(ctx context.Context, a *sparse.CSR[float64]) error {
	v, err := f.sym.gather(a)
	if err != nil {
		return err
	}
	f.scale, f.offVal = v.scale, v.offVal
	if err := f.eachGroup(func(g int) error { return f.refactorGroup(ctx, v, g) }); err != nil {
		return err
	}
	f.describe(v)
	return nil
}

func (f *LU) refactorGroup(ctx context.Context, v *values, g int) error {
	s, start := &f.stores[g], f.sym.start
	var x, below []float64
	work := 0
	for b := f.groups[g]; b < f.groups[g+1]; b++ {
		lo, hi := start[b], start[b+1]
		if hi-lo == 1 {
			if err := f.single(v, lo); err != nil {
				return err
			}
			continue
		}
		if len(x) < hi-lo {
			x, below = make([]float64, hi-lo), make([]float64, hi-lo)
		}
		for k := lo; k < hi; k++ {
			if work += f.refactorColumn(v, s, x, below, lo, k); work > workPerCheck {
				if err := ctx.Err(); err != nil {
					return err
				}
				work = 0
			}
			if d := math.Abs(f.diag[k]); !(d > 0 && d <= math.MaxFloat64) {
				return &SingularError{Rows: []int{int(f.rows[k])}, Columns: []int{int(f.sym.cols[k])}, Rank: k, Overflow: d != 0}
			}
		}
	}
	return ctx.Err()
}

// refactorColumn computes the column at position k of the block that begins at lo, and
// returns about how many multiply-add operations
// it took. work is for LU.forward. x is zero between columns.
func (f *LU) refactorColumn(v *values, s *store, x, work []float64, lo, k int) (count int) {
	for p := f.sym.ptr[k]; p < f.sym.ptr[k+1]; p++ {
		x[int(f.after[lo+int(f.sym.row[p])])-lo] = v.val[p]
	}
	at, n := f.up[k], int(f.ulen[k])
	rows, u := s.ui[at:][:n], s.ux[at:][:n]
	for p := 0; p < n; {
		first := rows[p]
		last := min(int(f.runLast[lo+int(first)]), k-lo-1)
		f.forward(s, x, lo+int(first), lo+last, first, u[p:], work, true)
		w := last - int(first) + 1
		count += 16 + w*int(f.llen[lo+last])
		p += w
	}
	pivot := x[k-lo]
	x[k-lo] = 0
	f.diag[k] = pivot
	below, l := f.below(s, k)
	for p, i := range below {
		l[p] = x[i] / pivot
		x[i] = 0
	}
	return count + len(below)
}
