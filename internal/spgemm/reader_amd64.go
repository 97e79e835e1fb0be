package spgemm

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// reader brings rows into the cache.
type reader[V sparse.Value] struct{}

func (reader[V]) load(b *sparse.CSR[V], row []int32, values bool) {
	prefetchRows(&row[0], len(row), &b.RowPtr[0], b.Rows, (*byte)(unsafe.Pointer(unsafe.SliceData(b.ColIdx))), 2)
	if values {
		shift := bits.TrailingZeros64(uint64(mem.Size[V]()))
		prefetchRows(&row[0], len(row), &b.RowPtr[0], b.Rows, (*byte)(unsafe.Pointer(unsafe.SliceData(b.Val))), shift)
	}
}
