package partition

import "github.com/msrep-go/msrep/internal/par"

// ByWholeMajors cuts the entries of a compressed matrix as evenly as it can without
// cutting a major: each cut is at the start of the major that is nearest to
// floor(i*nnz/parts). No part has a carry. A major with more than nnz/parts entries
// is a part of its own at best. Arguments and errors are those of ByNNZ.
func ByWholeMajors(ptr []int64, parts int) ([]Part, error) {
	return splitPtr(ptr, parts, func(i int) cut {
		s := par.Cut(ptr[len(ptr)-1], parts, i)
		r := lowerBound(ptr, s)
		if r > 0 && s-ptr[r-1] < ptr[r]-s {
			r--
		}
		return cut{ptr[r], r}
	})
}
