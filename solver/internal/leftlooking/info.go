package leftlooking

import "math"

// Info describes factors.
type Info struct {
	Counts
	// OffDiagonal is the number of pivots that the tolerance moved off the diagonal.
	OffDiagonal int64
	// SmallestPivot and LargestPivot are magnitudes on the diagonal of U, of the scaled
	// matrix. Their quotient is a rough estimate of the reciprocal
	// condition, usually too large. SmallestColumn is the column of the smallest one in
	// the matrix.
	SmallestPivot, LargestPivot float64
	SmallestColumn              int
	// Growth is the largest quotient of the largest entry of a column of U and the largest
	// entry of the column of the scaled matrix. Far above 1, the factors are inaccurate.
	Growth float64
}

// Info returns the sizes of the factors and what their pivots tell.
func (f *LU) Info() Info { return f.info }

// Size returns the number of rows.
func (f *LU) Size() int { return f.sym.n }

// describe sets the counts and the figures of the pivots.
func (f *LU) describe(v *values) {
	i := &f.info
	i.Counts = f.sym.counts
	n := f.sym.n
	i.L, i.U, i.F = int64(n), int64(n), int64(len(f.offVal))
	i.Bytes, i.Work, i.OffDiagonal = factorBytes(n, 0, 0, i.F), 0, 0
	for g := range f.stores {
		s := &f.stores[g]
		i.U += int64(len(s.ux))
		i.Work += s.work
		i.OffDiagonal += s.offDiagonal
		i.Bytes += 4*int64(len(s.li)+len(s.ui)) + 8*int64(len(s.lx)+len(s.ux))
	}
	i.Growth, i.SmallestPivot, i.LargestPivot = 0, math.Inf(1), 0
	if n == 0 {
		i.SmallestPivot = 0
	}
	f.eachColumn(func(s *store, k int) {
		i.L += int64(f.llen[k])
		pivot := math.Abs(f.diag[k])
		if pivot < i.SmallestPivot {
			i.SmallestPivot, i.SmallestColumn = pivot, int(f.sym.cols[k])
		}
		i.LargestPivot = max(i.LargestPivot, pivot)
		before := largestOf(v.val[f.sym.ptr[k]:f.sym.ptr[k+1]])
		i.Growth = max(i.Growth, max(pivot, largestOf(s.ux[f.up[k]:][:f.ulen[k]]))/before)
	})
}

// eachColumn calls do for each position with the store of its block.
func (f *LU) eachColumn(do func(s *store, k int)) {
	for g := range f.stores {
		for k := f.sym.start[f.groups[g]]; k < f.sym.start[f.groups[g+1]]; k++ {
			do(&f.stores[g], k)
		}
	}
}

func largestOf(a []float64) (most float64) {
	for _, v := range a {
		if v = math.Abs(v); v > most {
			most = v
		}
	}
	return most
}
