package multigrid

import (
	"math"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// FitsFloat32 reports whether the levels of a matrix can be float32, judging by its rows first, first+1, ... in a. Entries
// and reciprocals of diagonal elements must be far from the limits of the range, because entries of coarse levels are sums
// over many rows.
func FitsFloat32(a *sparse.CSR[float64], first int) bool {
	const least, most = 1e-15, 1e15
	var outside atomic.Bool
	par.Range(int64(a.Rows), 1<<13, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			from := a.RowPtr[i]
			val := a.Val[from:a.RowPtr[i+1]]
			for k, j := range a.ColIdx[from:a.RowPtr[i+1]][:len(val)] {
				v := math.Abs(val[k])
				if v > most || v < least && int64(j) == int64(first)+i {
					outside.Store(true)
					return
				}
			}
		}
	})
	return !outside.Load()
}
