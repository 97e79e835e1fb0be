package eigen

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// The entries and the larger dimension of matrices for which storage names a form. Smaller ones stay in CSR; with larger ones,
// products take so long that the search for a form takes little beside them.
const (
	fewestInSlices = 1 << 12
	mostInSlices   = 1 << 22
	longestVector  = 1 << 19
)

// Runs for singular values of matrices below both have 25 to 130 iterations, mostly: slices, which are twice as fast, do not repay
// their building.
const (
	fewSingular  = 1 << 12 // smaller dimension
	briefEntries = 1 << 18
)

// storage returns the storage of a plan for the products of one run, for singular values or for eigenvalues. The search for a form
// takes 20 to 100 products, of which half are for forms that are not taken. It found slices for all matrices measured whose vectors
// stay in the caches, but for those with a few long diagonals. On a single CPU, storage therefore names a form for the former.
func storage(sys *msrep.System, a *sparse.CSR[float64], opt Options, singular bool) msrep.Storage {
	devices, entries := sys.Devices(), len(a.Val)
	switch {
	case opt.Deterministic || len(devices) != 1 || devices[0].Kind != "cpu", entries < fewestInSlices || entries > mostInSlices,
		max(a.Rows, a.Cols) > longestVector, diagonal(a):
		return msrep.Storage{}
	case singular && min(a.Rows, a.Cols) < fewSingular && entries < briefEntries:
		return msrep.Storage{Form: kernels.FormCSR}
	}
	return msrep.Storage{Form: kernels.FormSlices}
}

// diagonal reports whether half of 64 rows have the same columns as the row before them, moved by one.
func diagonal(a *sparse.CSR[float64]) bool {
	const looks = 64
	if a.Rows < looks {
		return false
	}
	same := 0
	for k := range looks {
		i := 1 + k*(a.Rows-1)/looks
		before, row := a.ColIdx[a.RowPtr[i-1]:a.RowPtr[i]], a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]]
		moved := len(row) > 0 && len(before) == len(row)
		for e := 0; moved && e < len(row); e++ {
			moved = row[e] == before[e]+1
		}
		if moved {
			same++
		}
	}
	return 2*same >= looks
}
