package slices_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	slicesform "github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/sparse"
)

func TestSortedSlicesSuitFewCachedVectors(t *testing.T) {
	formtest.EachLevel(t, checkSlicesSuit[float64], checkSlicesSuit[float32])
}

func checkSlicesSuit[V sparse.Value](t *testing.T, l simd.Level) {
	a := formtest.Pattern{Cols: 40, Rows: [][]int32{{3, 5}, {7}, {}, {1, 2, 30}}}.CSR(func() float64 { return 1 })
	rows := form.Rows[V]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: make([]V, len(a.Val)), Cols: a.Cols}
	f := formtest.Must(slicesform.NewSlices(rows, slicesform.SliceOptions[V]{Level: l}))(t)
	s := f.(form.Suited[V])
	require.Equal(t, 1, s.RowsFrom(), "rows are sorted")
	size := int(unsafe.Sizeof(V(0)))
	most := map[simd.Level]int{simd.AVX2: 64, simd.AVX512: 128}[l] / size
	block := func(bytes, cols int) form.MultiVector[V] {
		return form.MultiVector[V]{Val: make([]V, bytes/size), Cols: cols, Stride: cols}
	}
	for _, c := range []struct {
		x, y, cols int
		suits      bool
	}{{4096, 4096, 2, true}, {4096, 4096, most, true}, {4096, 4096, most + 1, false}, {8 << 20, 2 << 20, 2, true}, {8 << 20, 2<<20 + size, 2, false}} {
		require.Equal(t, c.suits && most > 0, s.Suits(block(c.x, c.cols), block(c.y, c.cols)), "%+v", c)
	}
}

func TestSlicesOfSeveralWindowsMultiplySeveralVectors(t *testing.T) {
	formtest.EachLevel(t, checkWindowsMany[float64], checkWindowsMany[float32])
}

// checkWindowsMany multiplies two vectors by windows of all kinds: rows of one length or several,
// with wide entries in some rows, in all, or in none.
func checkWindowsMany[V sparse.Value](t *testing.T, l simd.Level) {
	const window, near = 64, 8
	r := rand.New(rand.NewPCG(1, 2))
	p := formtest.Pattern{Cols: 300_000}
	for i := range 12*window - 5 {
		n, far := near, 0
		if kind := i / window; kind%2 > 0 {
			n = 1 + r.IntN(2*near) // so that the last slice has fewer rows than lanes
		}
		switch kind := i / window % 4; {
		case kind == 2 && r.IntN(9) == 0, kind == 3:
			far = r.IntN(4)
		}
		row := formtest.AnyRow(r, 1000, n)
		for range far {
			row = append(row, 100_000+r.Int32N(200_000))
		}
		p.Rows = append(p.Rows, row)
	}
	a := sparse.Convert[V](p.CSR(r.NormFloat64))
	f := formtest.Must(slicesform.NewSlices(formtest.RowsOf(a), slicesform.SliceOptions[V]{Level: l, Window: window}))(t)
	x := form.MultiVector[V]{Val: make([]V, 2*a.Cols), Cols: 2, Stride: 2}
	for i := range x.Val {
		x.Val[i] = V(r.NormFloat64())
	}
	y := form.MultiVector[V]{Val: make([]V, 2*a.Rows), Cols: 2, Stride: 2}
	f.(form.Many[V]).MultiplyMany(1, 0, x, y)
	for j := range 2 {
		want := reference.Multiply(false, 1, a, columnOf(x, j), 0, make([]V, a.Rows))
		require.Equal(t, -1, reference.Check(columnOf(y, j), want), "row of column %d", j)
	}
}

func TestSlicesWithWideEntriesMultiplySeveralVectors(t *testing.T) {
	formtest.EachLevel(t, checkWideMany[float64], checkWideMany[float32])
}

// checkWideMany multiplies by windows with only wide entries, with more or fewer rows with wide
// entries than with narrow ones, and with only narrow entries. After them are rows without entries:
// as many as several calls of a kernel take, or fewer than its lanes.
func checkWideMany[V sparse.Value](t *testing.T, l simd.Level) {
	const window = 4096
	r := rand.New(rand.NewPCG(1, 2))
	p := formtest.Pattern{Cols: 200_000}
	for kind, rows := range [][2]int{{0, 300}, {70, 300}, {300, 70}, {300, 0}, {0, window - 3}, {0, 0}} { // with near entries, with far ones
		for i := range window - 5*(kind/5) {
			var row []int32
			if i < rows[0] {
				row = formtest.AnyRow(r, 1000, 10)
			}
			if i < rows[1] {
				row = append(row, 100_000+r.Int32N(50_000), r.Int32N(100_000), 150_000+r.Int32N(50_000))
			}
			p.Rows = append(p.Rows, row)
		}
	}
	a := sparse.Convert[V](p.CSR(r.NormFloat64))
	f := formtest.Must(slicesform.NewSlices(formtest.RowsOf(a), slicesform.SliceOptions[V]{Level: l, Window: window}))(t)
	for _, k := range []int{2, 17} {
		for _, beta := range []V{0, -.5} {
			checkProductMany(t, f.(form.Many[V]), a, k, beta)
		}
	}
}

func TestPiecesOfLongRowsMultiplySeveralVectors(t *testing.T) {
	formtest.EachLevel(t, checkPiecesMany[float64], checkPiecesMany[float32])
}

// checkPiecesMany multiplies by more long rows with the same base column than one call takes, one
// of them farther away than 16 bits can say, and by long rows with wide entries.
func checkPiecesMany[V sparse.Value](t *testing.T, l simd.Level) {
	const rows, near, far = 70_000, 3000, 300_000
	r := rand.New(rand.NewPCG(1, 2))
	p := formtest.Pattern{Cols: far, Rows: make([][]int32, rows)}
	for i := range rows {
		switch {
		case i > 0 && i <= 2*slicesform.AddedAtOnce, i == rows-5:
			p.Rows[i] = formtest.AnyRow(r, near, 1000+i%17)
		case i%1000 == 999:
			p.Rows[i] = formtest.AnyRow(r, far, 1000)
		case i%7 == 0:
			p.Rows[i] = []int32{int32(i % 100)}
		}
	}
	a := sparse.Convert[V](p.CSR(r.NormFloat64))
	f := formtest.Must(slicesform.NewSlices(formtest.RowsOf(a), slicesform.SliceOptions[V]{Level: l}))(t)
	checkProductMany(t, f.(form.Many[V]), a, 2, 0)
	checkProductMany(t, f.(form.Many[V]), a, 17, -.5)
}

// checkProductMany multiplies k vectors by a form of a.
func checkProductMany[V sparse.Value](t *testing.T, f form.Many[V], a *sparse.CSR[V], k int, beta V) {
	const alpha = 1.5
	r := rand.New(rand.NewPCG(3, 4))
	x, y := form.MultiVector[V]{Val: make([]V, k*a.Cols), Cols: k, Stride: k}, form.MultiVector[V]{Val: make([]V, k*a.Rows), Cols: k, Stride: k}
	for _, v := range [][]V{x.Val, y.Val} {
		for i := range v {
			v[i] = V(r.NormFloat64())
		}
	}
	var want []reference.Product
	for j := range k {
		want = append(want, reference.Multiply(false, alpha, a, columnOf(x, j), beta, columnOf(y, j)))
	}
	for i := range y.Val {
		if beta == 0 {
			y.Val[i] = V(math.NaN())
		}
	}
	f.MultiplyMany(alpha, beta, x, y)
	for j := range k {
		require.Equal(t, -1, reference.Check(columnOf(y, j), want[j]), "row of column %d of %d, beta %v", j, k, beta)
	}
}

func TestTheOrderOfSortedSlicesIsCounted(t *testing.T) {
	const n = 1000
	p := formtest.Pattern{Cols: n}
	for i := range n {
		p.Rows = append(p.Rows, formtest.AnyRow(rand.New(rand.NewPCG(1, uint64(i))), n, 1+i%5))
	}
	var given [][]byte
	rows := formtest.RowsOf(p.CSR(func() float64 { return 1 }))
	rows.Mem = &form.Memory{Alloc: func(n int64) ([]byte, error) {
		given = append(given, mem.Aligned(n))
		return given[len(given)-1], nil
	}}
	f := formtest.Must(slicesform.NewSlices(rows, slicesform.SliceOptions[float64]{}))(t)
	for _, order := range slicesform.Orders(f) {
		require.Len(t, order, n)
		require.True(t, slices.ContainsFunc(given, func(b []byte) bool {
			return unsafe.Pointer(unsafe.SliceData(b)) == unsafe.Pointer(unsafe.SliceData(order)) && len(b) == 2*n
		}))
	}
}

// columnOf returns column j of b.
func columnOf[V sparse.Value](b form.MultiVector[V], j int) (out []V) {
	for i := range b.Rows() {
		out = append(out, b.Val[i*b.Stride+j])
	}
	return out
}
