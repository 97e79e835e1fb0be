package form_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// eachLevel runs a test for each instruction set, with float64 and float32.
func eachLevel(t *testing.T, double, single func(*testing.T, simd.Level)) {
	for l := simd.Generic; l <= simd.AVX512; l++ {
		t.Run(l.String(), func(t *testing.T) {
			if l > simd.Best() {
				t.Skipf("this processor has at most %s", simd.Best())
			}
			t.Run("float64", func(t *testing.T) { double(t, l) })
			t.Run("float32", func(t *testing.T) { single(t, l) })
		})
	}
}

// rowsOf returns all rows of a matrix.
func rowsOf[V sparse.Value](a *sparse.CSR[V]) form.Rows[V] {
	return form.Rows[V]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Cols: a.Cols}
}

// pattern makes the columns of a matrix, row by row.
type pattern struct {
	cols int
	rows [][]int32
}

// patterns are the kinds of matrices that the forms are made for, and others.
var patterns = map[string]func(r *rand.Rand) pattern{
	"any": func(r *rand.Rand) pattern {
		p := pattern{cols: 1 + r.IntN(200)}
		for range r.IntN(300) {
			p.rows = append(p.rows, anyRow(r, p.cols, r.IntN(9)*r.IntN(2)))
		}
		return p
	},
	"equal lengths": func(r *rand.Rand) pattern {
		p := pattern{cols: 1 + r.IntN(200)}
		n := r.IntN(20)
		for range r.IntN(200) {
			p.rows = append(p.rows, anyRow(r, p.cols, n))
		}
		return p
	},
	// Most columns are near the row, some anywhere.
	"local": func(r *rand.Rand) pattern {
		p := pattern{cols: 300_000}
		from, far := int32(r.IntN(200_000)), r.IntN(4)
		for i := range int32(r.IntN(200)) {
			row := anyRow(r, 500, r.IntN(12))
			for k := range row {
				row[k] += from + i
				if r.IntN(8) < far {
					row[k] = r.Int32N(300_000)
				}
			}
			p.rows = append(p.rows, row)
		}
		return p
	},
	// Columns near the diagonal, most rows with one of three others, and some long rows.
	"arrow": func(r *rand.Rand) pattern {
		p := pattern{cols: 200_000}
		without, long := 1+r.IntN(20), r.IntN(4)
		for i := range int32(r.IntN(400)) {
			row := anyRow(r, 100, r.IntN(10))
			for k := range row {
				row[k] += 300 * i
			}
			if r.IntN(without) > 0 || without == 1 {
				row = append(row, []int32{3, 100_000, 199_999}[r.IntN(3)])
			}
			if r.IntN(200) < long {
				row = anyRow(r, p.cols, 1000+r.IntN(3000))
				slices.Sort(row)
			}
			p.rows = append(p.rows, row)
		}
		return p
	},
	"long rows": func(r *rand.Rand) pattern {
		p := pattern{cols: []int{200, 150_000}[r.IntN(2)]}
		for range 1 + r.IntN(60) {
			n := r.IntN(5)
			if r.IntN(20) == 0 {
				n = 1000 + r.IntN(3000)
			}
			row := anyRow(r, p.cols, n)
			if r.IntN(2) == 0 {
				slices.Sort(row)
			}
			p.rows = append(p.rows, row)
		}
		return p
	},
	// Rows of one chunk of a fixed sum, each much longer than its neighbours.
	"longer rows": func(r *rand.Rand) pattern {
		p := pattern{cols: 600}
		for range 1 + r.IntN(300) {
			n := r.IntN(6)
			if r.IntN(40) == 0 {
				n = 100 + r.IntN(400)
			}
			p.rows = append(p.rows, anyRow(r, p.cols, n))
		}
		return p
	},
	"one row":    func(r *rand.Rand) pattern { return pattern{5000, [][]int32{anyRow(r, 5000, 5000)}} },
	"one column": func(r *rand.Rand) pattern { return pattern{1, make([][]int32, 40, 41)}.with([]int32{0}) },
	"empty":      func(r *rand.Rand) pattern { return pattern{r.IntN(3), make([][]int32, r.IntN(20))} },
	// Successive rows have the same columns, shifted by one.
	"diagonals": func(r *rand.Rand) pattern {
		n := 1 + r.IntN(500)
		p := pattern{cols: max(1, n+r.IntN(40)-20)}
		offsets := []int{}
		for range r.IntN(12) {
			offsets = append(offsets, r.IntN(2*n)-n, r.IntN(7)-3)
		}
		slices.Sort(offsets)
		offsets = slices.Compact(offsets)
		gaps := r.IntN(30)
		for i := range n {
			var row []int32
			for _, d := range offsets {
				if i+d >= 0 && i+d < p.cols && (gaps == 0 || r.IntN(10*gaps) > 0) {
					row = append(row, int32(i+d))
				}
			}
			p.rows = append(p.rows, row)
		}
		return p
	},
	// Points of a grid and their neighbours in all directions, some of which may be missing.
	"stencil": func(r *rand.Rand) pattern {
		nx, ny, nz := 1+r.IntN(20), 1+r.IntN(12), 1+r.IntN(8)
		gaps := r.IntN(2) * (1 + r.IntN(30))
		p := pattern{cols: nx * ny * nz}
		for i := range p.cols {
			var row []int32
			for z := max(0, i/nx/ny-1); z < min(nz, i/nx/ny+2); z++ {
				for y := max(0, i/nx%ny-1); y < min(ny, i/nx%ny+2); y++ {
					for x := max(0, i%nx-1); x < min(nx, i%nx+2); x++ {
						if gaps == 0 || r.IntN(10*gaps) > 0 {
							row = append(row, int32((z*ny+y)*nx+x))
						}
					}
				}
			}
			p.rows = append(p.rows, row)
		}
		return p
	},
	// Successive rows have runs of columns in common, some not quite.
	"runs": func(r *rand.Rand) pattern {
		p := pattern{cols: 1 + r.IntN(150)}
		apart, end := r.IntN(4), r.IntN(80)
		for len(p.rows) < end {
			var row []int32
			for c := r.IntN(30); c < p.cols; c += 1 + r.IntN(30) {
				for n := 1 + r.IntN(20); n > 0 && c < p.cols; n, c = n-1, c+1 {
					row = append(row, int32(c))
				}
			}
			for range 1 + r.IntN(12) {
				own := slices.Clone(row)
				if r.IntN(4) < apart && len(own) > 0 {
					k := r.IntN(len(own))
					own = slices.Delete(own, k, min(k+1+r.IntN(3), len(own)))
				}
				p.rows = append(p.rows, own)
			}
		}
		return p
	},
	"blocks": func(r *rand.Rand) pattern {
		height, width := 2+r.IntN(7), 1+r.IntN(8)
		n := 1 + r.IntN(20)
		p := pattern{cols: n * width}
		for range r.IntN(60) {
			var row []int32
			for b := range n {
				if r.IntN(3) == 0 {
					for j := range width {
						row = append(row, int32(b*width+j))
					}
				}
			}
			for range height {
				p.rows = append(p.rows, row)
			}
		}
		return p
	},
}

func (p pattern) with(row []int32) pattern {
	p.rows = append(p.rows, row)
	return p
}

// anyRow returns n columns in any order, some of them repeated.
func anyRow(r *rand.Rand, cols, n int) []int32 {
	row := make([]int32, n)
	for k := range row {
		row[k] = r.Int32N(int32(cols))
	}
	return row
}

// valueKinds make values for each storage.
var valueKinds = map[string]func(r *rand.Rand) float64{
	"any":     (*rand.Rand).NormFloat64,
	"float32": func(r *rand.Rand) float64 { return float64(float32(r.NormFloat64())) },
	"few":     func(r *rand.Rand) float64 { return float64(r.IntN(16)) * .3 },
	"one":     func(*rand.Rand) float64 { return -1.7 },
	// Larger than the largest float32, with 20 bits after the first.
	"large": func(r *rand.Rand) float64 {
		return math.Ldexp(float64(1<<20+r.IntN(1<<20)), 180+r.IntN(40)) * float64(1-2*r.IntN(2))
	},
	"special": func(r *rand.Rand) float64 {
		return []float64{1, 2, 3, 4, 5, 6, math.NaN(), math.Inf(1), math.Copysign(0, -1)}[r.IntN(9)]
	},
}

// csr returns a matrix with the pattern and the given values.
func (p pattern) csr(value func() float64) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: len(p.rows), Cols: p.cols, RowPtr: []int64{0}}
	for _, row := range p.rows {
		a.ColIdx = append(a.ColIdx, row...)
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
		for range row {
			a.Val = append(a.Val, value())
		}
	}
	return a
}

// checkForm multiplies by random matrices in the form of this name, between guards, and compares
// with the reference.
func checkForm[V sparse.Value](t *testing.T, name string, l simd.Level) {
	rapid.Check(t, func(t *rapid.T) {
		var g guards
		defer g.free(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		kind := rapid.SampledFrom(sortedKeys(patterns)).Draw(t, "pattern")
		values := valueKinds[rapid.SampledFrom(sortedKeys(valueKinds)).Draw(t, "values")]
		a := sparse.Convert[V](patterns[kind](r).csr(func() float64 { return values(r) }))
		x, y := make([]V, a.Cols), make([]V, a.Rows)
		for i := range x {
			x[i] = V(r.NormFloat64())
		}
		for i := range y {
			y[i] = V(r.NormFloat64())
		}
		if len(x) > 0 && rapid.Bool().Draw(t, "special x") {
			for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				x[r.IntN(len(x))] = V(v)
			}
		}
		scalars := rapid.SampledFrom([]V{1, -1, .75, -2.5})
		alpha := scalars.Draw(t, "alpha")
		beta := rapid.OneOf(rapid.Just[V](0), scalars).Draw(t, "beta")
		want := reference.Multiply(false, alpha, a, x, beta, y)
		if beta == 0 {
			for i := range y {
				y[i] = V(math.NaN())
			}
		}

		atEnd := rapid.Bool().Draw(t, "at the end")
		shift := rapid.SampledFrom([]int64{0, 1<<33 + 1}).Draw(t, "shift")
		rows := rowsOf(a)
		rows.Ptr = slices.Clone(a.RowPtr)
		for i := range rows.Ptr {
			rows.Ptr[i] += shift
		}
		f := drawMade[V](t, name, l).between(t, &g, rows, atEnd)
		if f == nil {
			return
		}
		x, out := guarded(t, &g, x, atEnd), guarded(t, &g, y, atEnd)
		f.Multiply(alpha, beta, x, out)
		require.Equal(t, -1, reference.Check(out, want), "%s, %s: row", f.Name(), kind)
		again := slices.Clone(y)
		f.Multiply(alpha, beta, x, again)
		for i := range out {
			require.Equal(t, math.Float64bits(float64(out[i])), math.Float64bits(float64(again[i])), "a second product differs")
		}
	})
}

func sortedKeys[T any](m map[string]T) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
