//go:build !amd64

package spgemm

import "github.com/msrep-go/msrep/sparse"

// reader brings rows into the cache: it reads the first column of each and its value, so that these reads overlap. It keeps
// what it has read; otherwise the compiler would leave the reads out.
type reader[V sparse.Value] struct {
	column int32
	value  V
}

func (s *reader[V]) load(b *sparse.CSR[V], row []int32, values bool) {
	last := int64(len(b.ColIdx) - 1)
	var sum int32
	for _, k := range row {
		sum += b.ColIdx[min(b.RowPtr[k], last)]
	}
	s.column = sum
	if values {
		var sum V
		for _, k := range row {
			sum += b.Val[min(b.RowPtr[k], last)]
		}
		s.value = sum
	}
}
