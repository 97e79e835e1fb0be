package form_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

func TestSortedSlicesTakeFewVectorsThatStayInTheCaches(t *testing.T) {
	eachLevel(t, checkSlicesSuit[float64], checkSlicesSuit[float32])
}

func checkSlicesSuit[V sparse.Value](t *testing.T, l simd.Level) {
	a := pattern{cols: 40, rows: [][]int32{{3, 5}, {7}, {}, {1, 2, 30}}}.csr(func() float64 { return 1 })
	rows := form.Rows[V]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: make([]V, len(a.Val)), Cols: a.Cols}
	f, err := form.NewSlices(rows, form.SliceOptions[V]{Level: l})
	require.NoError(t, err)
	s := f.(form.Suited[V])
	require.Equal(t, 1, s.RowsFrom(), "rows are sorted")
	size := int(unsafe.Sizeof(V(0)))
	most := map[simd.Level]int{simd.AVX2: 64, simd.AVX512: 128}[l] / size
	block := func(bytes, cols int) simd.Block[V] {
		return simd.Block[V]{Val: make([]V, bytes/size), Cols: cols, Stride: cols}
	}
	for _, c := range []struct {
		x, y, cols int
		suits      bool
	}{{4096, 4096, 2, true}, {4096, 4096, most, true}, {4096, 4096, most + 1, false}, {8 << 20, 2 << 20, 2, true}, {8 << 20, 2<<20 + size, 2, false}} {
		require.Equal(t, c.suits && most > 0, s.Suits(block(c.x, c.cols), block(c.y, c.cols)), "%+v", c)
	}
}
