package multigrid

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// MostUnknowns is the largest number of rows of a node that NodeSize finds: three displacements and three rotations.
const MostUnknowns = 6

// NodeSize returns the largest number b of rows, at most MostUnknowns, such that A consists of dense blocks of b x b: rows b*i to
// b*i+b-1 have the same columns, and these include all b columns of a node or none. The columns of each row ascend.
func NodeSize(a *sparse.CSR[float64]) int {
	for b := MostUnknowns; b > 1; b-- {
		if HasBlocks(a, b) {
			return b
		}
	}
	return 1
}

// HasBlocks reports whether A consists of dense blocks of b x b. a has all rows of A, or consecutive rows from a multiple of b
// on. The rows ascend.
func HasBlocks(a *sparse.CSR[float64], b int) bool {
	if a.Rows%b != 0 || a.NNZ()%int64(b*b) != 0 {
		return false
	}
	row := func(i int) []int32 { return a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] }
	for i := 0; i < a.Rows; i += b {
		first := row(i)
		if len(first)%b != 0 {
			return false
		}
		for k := 0; k < len(first); k += b {
			if int(first[k])%b != 0 || first[k+b-1]-first[k] != int32(b-1) {
				return false
			}
		}
		for j := i + 1; j < i+b; j++ {
			if !slices.Equal(first, row(j)) {
				return false
			}
		}
	}
	return true
}
