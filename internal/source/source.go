// Package source determines which properties of the source file a matrix still has, for
// functions that write the matrix.
package source

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// grain is the least number of rows or entries that pays for a goroutine.
const grain = 1 << 14

// Field returns want if that field can hold all values, else real. An integer must fit
// into 64 bits, and must not be a negative zero.
func Field(val []float64, want sparse.Field) sparse.Field {
	var fits func(v float64) bool
	switch want {
	case sparse.Pattern:
		fits = func(v float64) bool { return v == 1 }
	case sparse.Integer:
		fits = func(v float64) bool {
			return v == math.Trunc(v) && math.Abs(v) < 1<<63 && (v != 0 || !math.Signbit(v))
		}
	default:
		return sparse.Real
	}
	if !all(len(val), func(k int) bool { return fits(val[k]) }) {
		return sparse.Real
	}
	return want
}

// Mirrored reports whether m has the symmetry s: a[j][i] has the bits of a[i][j], or, if
// s is skew-symmetric, those of -a[i][j], with zeros on the diagonal. lower is the number
// of entries on and below the diagonal. A matrix with unsorted rows or duplicates has no
// symmetry.
func Mirrored(m *sparse.CSR[float64], s sparse.Symmetry) (lower int64, ok bool) {
	skew := s == sparse.SkewSymmetric
	if m.Rows != m.Cols || !skew && s != sparse.Symmetric || !Rising(m.RowPtr, m.ColIdx) {
		return 0, false
	}
	var below, above atomic.Int64
	ok = all(m.Rows, func(i int) bool {
		k0, k1 := m.RowPtr[i], m.RowPtr[i+1]
		n, diagonal := slices.BinarySearch(m.ColIdx[k0:k1], int32(i))
		above.Add(k1 - k0 - int64(n))
		if diagonal {
			above.Add(-1)
			if skew && m.Val[k0+int64(n)] != 0 {
				return false
			}
		}
		below.Add(int64(n))
		for k := k0; k < k0+int64(n); k++ {
			v := m.Val[k]
			if skew {
				v = -v
			}
			mirrored, there := at(m, m.ColIdx[k], int32(i))
			if !there || math.Float64bits(v) != math.Float64bits(mirrored) {
				return false
			}
		}
		return true
	})
	return m.NNZ() - above.Load(), ok && below.Load() == above.Load()
}

// at returns entry (i, j) of a matrix with sorted rows.
func at(m *sparse.CSR[float64], i, j int32) (v float64, ok bool) {
	k0, k1 := m.RowPtr[i], m.RowPtr[i+1]
	n, ok := slices.BinarySearch(m.ColIdx[k0:k1], j)
	if !ok {
		return 0, false
	}
	return m.Val[k0+int64(n)], true
}

// Rising reports whether the indices of every row increase: the row is sorted and has no
// duplicates.
func Rising(ptr []int64, idx []int32) bool {
	return all(len(ptr)-1, func(i int) bool {
		for k := ptr[i] + 1; k < ptr[i+1]; k++ {
			if idx[k] <= idx[k-1] {
				return false
			}
		}
		return true
	})
}

// all reports whether f returns true for 0 ... n-1. It uses several goroutines.
func all(n int, f func(i int) bool) bool {
	var fails atomic.Bool
	par.Range(int64(n), grain, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			if !f(int(i)) || i&1023 == 0 && fails.Load() {
				fails.Store(true)
				return
			}
		}
	})
	return !fails.Load()
}
