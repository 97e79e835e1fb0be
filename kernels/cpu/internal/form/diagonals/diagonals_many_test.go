package diagonals_test

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestPlanesOfStencilsAreFound(t *testing.T) {
	box := func(apart ...int64) (offsets []int64) {
		for _, z := range apart {
			for _, y := range []int64{-10, 0, 10} {
				offsets = append(offsets, z+y-1, z+y, z+y+1)
			}
		}
		return offsets
	}
	for _, c := range []struct {
		name                 string
		offsets              []int64
		planes, apart, reach int
	}{
		{"27 points", box(-200, 0, 200), 3, 200, 23},
		{"of a higher order", box(-400, -200, 0, 200, 400), 5, 200, 23},
		{"7 points", []int64{-200, -10, -1, 0, 1, 10, 200}, 3, 200, 21},
		{"5 points", []int64{-10, -1, 0, 1, 10}, 3, 10, 3},
		{"one side", box(0, 200), 2, 200, 23},
	} {
		planes, apart, reach := diagonals.FindStencil(c.offsets)
		require.Equal(t, []int{c.planes, c.apart, c.reach}, []int{planes, apart, reach}, c.name)
	}
	for name, offsets := range map[string][]int64{
		"none": nil, "one": {0}, "a band": {-2, -1, 0, 1, 2}, "unequal": box(-200, 0, 300),
	} {
		_, apart, _ := diagonals.FindStencil(offsets)
		if name == "a band" { // each diagonal is a plane: too near each other for strips
			require.LessOrEqual(t, apart, 1)
			continue
		}
		require.Zero(t, apart, name)
	}
}

// The order of rows does not change the result: each row is summed as before.
func TestStripsOfStencilsGiveTheSameBits(t *testing.T) {
	for _, spec := range []string{"stencil:dims=3,points=27,n=17", "stencil:dims=3,points=7,n=17", "stencil:dims=2,points=5,n=60"} {
		a, _, err := gen.Generate(spec)
		require.NoError(t, err)
		for k := range a.Val {
			a.Val[k] += float64(k%1009) / 1009
		}
		eachStripLevel(t, a, spec)
	}
}

func eachStripLevel(t *testing.T, a *sparse.CSR[float64], spec string) {
	for _, l := range simd.Levels() {
		f := formtest.Must(diagonals.NewDiagonals(formtest.RowsOf(a), diagonals.DiagonalOptions[float64]{Level: l}))(t)
		for _, cols := range []int{3, 20} {
			x := form.MultiVector[float64]{Val: make([]float64, a.Cols*cols), Cols: cols, Stride: cols}
			for i := range x.Val {
				x.Val[i] = float64(i%101) / 7
			}
			// A row that is multiplied twice would add its y twice; nothing is after y.
			product := func(bytes int) []float64 {
				n := a.Rows * cols
				all := slices.Repeat([]float64{.25}, n+100)
				y := form.MultiVector[float64]{Val: all[:n], Cols: cols, Stride: cols}
				formtest.WithStrips(bytes, func() { f.(form.Many[float64]).MultiplyMany(1.5, .5, x, y) })
				require.Equal(t, slices.Repeat([]float64{.25}, 100), all[n:], "%s, %v, %d vectors, strips of %d bytes", spec, l, cols, bytes)
				return y.Val
			}
			whole := product(1 << 30)
			for _, bytes := range []int{0, 1 << 12, 1 << 16} {
				require.Equal(t, whole, product(bytes), "%s, %v, %d vectors, strips of %d bytes", spec, l, cols, bytes)
			}
		}
	}
}

func TestCachedVectorsOfMaskedDiagonalsAreMultipliedByRows(t *testing.T) {
	formtest.EachLevel(t, checkDiagonalsSuit[float64], checkDiagonalsSuit[float32])
}

func checkDiagonalsSuit[V sparse.Value](t *testing.T, l simd.Level) {
	const n = 4096
	size := int(unsafe.Sizeof(V(0)))
	suits := func(line, cols, stride int, same bool, more int) bool { // lines of rows, of which the first lacks an entry
		p, k, entries := formtest.Pattern{Cols: n + 1}, 0., 0
		for i := range int32(n) {
			row := []int32{i, i + 1}
			if int(i)%line == 0 {
				row = row[1:]
			}
			p.Rows, entries = append(p.Rows, row), entries+len(row)
		}
		a := p.CSR(func() float64 {
			if !same {
				k++
			}
			return k
		})
		rows := formtest.RowsOf(sparse.Convert[V](a))
		f := formtest.Must(diagonals.NewDiagonals(rows, diagonals.DiagonalOptions[V]{Level: l, Values: form.FindValues(rows.Val)}))(t)
		s := f.(form.Suited[V])
		require.Equal(t, 1, s.RowsFrom())
		left := (32<<20-8*n-entries*(4+size))/size + more // elements of x and y, as many as count as cached and more
		block := func(n int) form.MultiVector[V] {
			return form.MultiVector[V]{Val: make([]V, n), Cols: cols, Stride: stride}
		}
		return s.Suits(block(left/3), block(left-left/3))
	}
	lanes := simd.Lanes[V](l)
	few := l == simd.AVX512 // AVX-512 has kernels for few vectors
	for _, c := range []struct {
		line, cols, stride int
		same               bool
		more               int
		suits              bool
	}{
		{line: 6 * lanes, cols: 8, stride: 8},
		{line: 7 * lanes, cols: 8, stride: 8, suits: true},
		{line: 6 * lanes, cols: 2, stride: 2, same: true},
		{line: 7 * lanes, cols: 2, stride: 2, same: true, suits: true},
		{line: 6 * lanes, cols: 4, stride: 4, suits: few},
		{line: 6 * lanes, cols: 4, stride: 5},
		{line: 6 * lanes, cols: 8, stride: 8, more: 1, suits: true},
	} {
		require.Equal(t, c.suits, suits(c.line, c.cols, c.stride, c.same, c.more), "%+v", c)
	}
}
