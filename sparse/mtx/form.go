package mtx

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// grain is how many rows or entries are worth a goroutine.
const grain = 1 << 14

// fieldOf is want if all values of m can be written so, else real.
func fieldOf(m *sparse.CSR[float64], want sparse.Field) sparse.Field {
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
	if !all(m.NNZ(), func(k int64) bool { return fits(m.Val[k]) }) {
		return sparse.Real
	}
	return want
}

// mirrored reports whether a[j][i] has the bits of a[i][j], or of -a[i][j] and a
// diagonal of zeros if skew; lower is how many entries stand on and below the
// diagonal. A matrix with unsorted rows or duplicates does not count as mirrored.
func mirrored(m *sparse.CSR[float64], skew bool) (lower int64, ok bool) {
	if m.Rows != m.Cols {
		return 0, false
	}
	if !all(int64(m.Rows), func(i int64) bool { return rising(m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]]) }) {
		return 0, false
	}
	var below, above atomic.Int64
	ok = all(int64(m.Rows), func(i int64) bool {
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
			twin, there := at(m, int64(m.ColIdx[k]), int32(i))
			if !there || math.Float64bits(v) != math.Float64bits(twin) {
				return false
			}
		}
		return true
	})
	return m.NNZ() - above.Load(), ok && below.Load() == above.Load()
}

// at is entry (i, j) of a matrix with sorted rows.
func at(m *sparse.CSR[float64], i int64, j int32) (v float64, ok bool) {
	k0, k1 := m.RowPtr[i], m.RowPtr[i+1]
	n, ok := slices.BinarySearch(m.ColIdx[k0:k1], j)
	if !ok {
		return 0, false
	}
	return m.Val[k0+int64(n)], true
}

func rising(idx []int32) bool {
	for k := 1; k < len(idx); k++ {
		if idx[k] <= idx[k-1] {
			return false
		}
	}
	return true
}

// all reports whether f holds for 0 ... n-1, in parallel.
func all(n int64, f func(i int64) bool) bool {
	var fails atomic.Bool
	par.Range(n, grain, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			if !f(i) || i&1023 == 0 && fails.Load() {
				fails.Store(true)
				return
			}
		}
	})
	return !fails.Load()
}
