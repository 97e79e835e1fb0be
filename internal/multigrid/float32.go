package multigrid

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// FitsFloat32 reports whether the levels of a matrix can be float32, judging by its rows first, first+1, ... in a. Entries
// and reciprocals of diagonal elements must be far from the limits of the range, because entries of coarse levels are sums
// over many rows.
func FitsFloat32(a *sparse.CSR[float64], first int) bool {
	const least, most = 1e-15, 1e15
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			v := math.Abs(a.Val[k])
			if v > most || int(a.ColIdx[k]) == first+i && v < least {
				return false
			}
		}
	}
	return true
}
