package main

import (
	"math"
	"sort"

	"github.com/msrep-go/msrep/sparse"
)

// beyond reports whether a finite number became infinite in the conversion to another type.
func beyond[W, V sparse.Value](from V, to W) bool {
	return math.IsInf(float64(to), 0) && !math.IsInf(float64(from), 0)
}

// checkSingle returns an error if a value of a exceeds the range of fp32 or if the memory for a copy in fp32 is
// missing. file is the name in the errors. Row 0 of a is row first of the matrix.
func checkSingle(file string, a *sparse.CSR[float64], first int) error {
	for k, v := range a.Val {
		if beyond(v, float32(v)) {
			row := sort.Search(a.Rows, func(r int) bool { return a.RowPtr[r+1] > int64(k) })
			return sparse.Inputf(file, "%g in row %d, column %d is beyond the range of fp32, which --value asks for", v, first+row+1, a.ColIdx[k]+1)
		}
	}
	return checkMemory("--value", "a copy of the values in fp32", 4*a.NNZ())
}
