package formtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// EachLevel runs a test for each instruction set, with float64 and float32.
func EachLevel(t *testing.T, double, single func(*testing.T, simd.Level)) {
	for _, l := range simd.All {
		t.Run(l.String(), func(t *testing.T) {
			if !slices.Contains(simd.Levels(), l) {
				t.Skipf("this processor does not have %s", l)
			}
			t.Run("float64", func(t *testing.T) { double(t, l) })
			t.Run("float32", func(t *testing.T) { single(t, l) })
		})
	}
}

// RowsOf returns all rows of a matrix.
func RowsOf[V sparse.Value](a *sparse.CSR[V]) form.Rows[V] {
	return form.Rows[V]{Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Cols: a.Cols}
}

// Pattern makes the columns of a matrix, row by row.
type Pattern struct {
	Cols int
	Rows [][]int32
}

// Patterns are the kinds of matrices that the forms are made for, and others.
var Patterns = map[string]func(r *rand.Rand) Pattern{
	"any": func(r *rand.Rand) Pattern {
		p := Pattern{Cols: 1 + r.IntN(200)}
		for range r.IntN(300) {
			p.Rows = append(p.Rows, AnyRow(r, p.Cols, r.IntN(9)*r.IntN(2)))
		}
		return p
	},
	"equal lengths": func(r *rand.Rand) Pattern {
		p := Pattern{Cols: 1 + r.IntN(200)}
		n := r.IntN(20)
		for range r.IntN(200) {
			p.Rows = append(p.Rows, AnyRow(r, p.Cols, n))
		}
		return p
	},
	// Most columns are near the row, some anywhere.
	"local": func(r *rand.Rand) Pattern {
		p := Pattern{Cols: 300_000}
		from, far := int32(r.IntN(200_000)), r.IntN(4)
		for i := range int32(r.IntN(200)) {
			row := AnyRow(r, 500, r.IntN(12))
			for k := range row {
				row[k] += from + i
				if r.IntN(8) < far {
					row[k] = r.Int32N(300_000)
				}
			}
			p.Rows = append(p.Rows, row)
		}
		return p
	},
	// Columns near the diagonal, most rows with one of three others, and some long rows.
	"arrow": func(r *rand.Rand) Pattern {
		p := Pattern{Cols: 200_000}
		without, long := 1+r.IntN(20), r.IntN(4)
		for i := range int32(r.IntN(400)) {
			row := AnyRow(r, 100, r.IntN(10))
			for k := range row {
				row[k] += 300 * i
			}
			if r.IntN(without) > 0 || without == 1 {
				row = append(row, []int32{3, 100_000, 199_999}[r.IntN(3)])
			}
			if r.IntN(200) < long {
				row = AnyRow(r, p.Cols, 1000+r.IntN(3000))
				slices.Sort(row)
			}
			p.Rows = append(p.Rows, row)
		}
		return p
	},
	"long rows": func(r *rand.Rand) Pattern {
		p := Pattern{Cols: []int{200, 150_000}[r.IntN(2)]}
		for range 1 + r.IntN(60) {
			n := r.IntN(5)
			if r.IntN(20) == 0 {
				n = 1000 + r.IntN(3000)
			}
			row := AnyRow(r, p.Cols, n)
			if r.IntN(2) == 0 {
				slices.Sort(row)
			}
			p.Rows = append(p.Rows, row)
		}
		return p
	},
	// Rows of one chunk of a fixed sum, each much longer than its neighbours.
	"longer rows": func(r *rand.Rand) Pattern {
		p := Pattern{Cols: 600}
		for range 1 + r.IntN(300) {
			n := r.IntN(6)
			if r.IntN(40) == 0 {
				n = 100 + r.IntN(400)
			}
			p.Rows = append(p.Rows, AnyRow(r, p.Cols, n))
		}
		return p
	},
	"one row":    func(r *rand.Rand) Pattern { return Pattern{5000, [][]int32{AnyRow(r, 5000, 5000)}} },
	"one column": func(r *rand.Rand) Pattern { return Pattern{1, make([][]int32, 40, 41)}.with([]int32{0}) },
	"empty":      func(r *rand.Rand) Pattern { return Pattern{r.IntN(3), make([][]int32, r.IntN(20))} },
	// Successive rows have the same columns, shifted by one.
	"diagonals": func(r *rand.Rand) Pattern {
		n := 1 + r.IntN(500)
		p := Pattern{Cols: max(1, n+r.IntN(40)-20)}
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
				if i+d >= 0 && i+d < p.Cols && (gaps == 0 || r.IntN(10*gaps) > 0) {
					row = append(row, int32(i+d))
				}
			}
			p.Rows = append(p.Rows, row)
		}
		return p
	},
	// Points of a grid and their neighbours in all directions, some of which may be missing.
	"stencil": func(r *rand.Rand) Pattern {
		nx, ny, nz := 1+r.IntN(20), 1+r.IntN(12), 1+r.IntN(8)
		gaps := r.IntN(2) * (1 + r.IntN(30))
		p := Pattern{Cols: nx * ny * nz}
		for i := range p.Cols {
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
			p.Rows = append(p.Rows, row)
		}
		return p
	},
	// Successive rows have runs of columns in common, some not quite.
	"runs": func(r *rand.Rand) Pattern {
		p := Pattern{Cols: 1 + r.IntN(150)}
		apart, end := r.IntN(4), r.IntN(80)
		for len(p.Rows) < end {
			var row []int32
			for c := r.IntN(30); c < p.Cols; c += 1 + r.IntN(30) {
				for n := 1 + r.IntN(20); n > 0 && c < p.Cols; n, c = n-1, c+1 {
					row = append(row, int32(c))
				}
			}
			for range 1 + r.IntN(12) {
				own := slices.Clone(row)
				if r.IntN(4) < apart && len(own) > 0 {
					k := r.IntN(len(own))
					own = slices.Delete(own, k, min(k+1+r.IntN(3), len(own)))
				}
				p.Rows = append(p.Rows, own)
			}
		}
		return p
	},
	"blocks": func(r *rand.Rand) Pattern {
		height, width := 2+r.IntN(7), 1+r.IntN(8)
		n := 1 + r.IntN(20)
		p := Pattern{Cols: n * width}
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
				p.Rows = append(p.Rows, row)
			}
		}
		return p
	},
}

func (p Pattern) with(row []int32) Pattern {
	p.Rows = append(p.Rows, row)
	return p
}

// AnyRow returns n columns in any order, some of them repeated.
func AnyRow(r *rand.Rand, cols, n int) []int32 {
	row := make([]int32, n)
	for k := range row {
		row[k] = r.Int32N(int32(cols))
	}
	return row
}

// ValueKinds make values for each storage.
var ValueKinds = map[string]func(r *rand.Rand) float64{
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

// CSR returns a matrix with the pattern and the given values.
func (p Pattern) CSR(value func() float64) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: len(p.Rows), Cols: p.Cols, RowPtr: []int64{0}}
	for _, row := range p.Rows {
		a.ColIdx = append(a.ColIdx, row...)
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
		for range row {
			a.Val = append(a.Val, value())
		}
	}
	return a
}

// CheckForm multiplies by random matrices in the form of this name, between guards, and compares
// with the reference.
func CheckForm[V sparse.Value](t *testing.T, name string, l simd.Level) {
	rapid.Check(t, func(t *rapid.T) {
		var g Guards
		defer g.Free(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		kind := rapid.SampledFrom(SortedKeys(Patterns)).Draw(t, "pattern")
		values := ValueKinds[rapid.SampledFrom(SortedKeys(ValueKinds)).Draw(t, "values")]
		a := sparse.Convert[V](Patterns[kind](r).CSR(func() float64 { return values(r) }))
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
		rows := RowsOf(a)
		rows.Ptr = slices.Clone(a.RowPtr)
		for i := range rows.Ptr {
			rows.Ptr[i] += shift
		}
		f := DrawMade[V](t, name, l).between(t, &g, rows, atEnd)
		if f == nil {
			return
		}
		x, out := Guarded(t, &g, x, atEnd), Guarded(t, &g, y, atEnd)
		f.Multiply(alpha, beta, x, out)
		require.Equal(t, -1, reference.Check(out, want), "%s, %s: row", f.Name(), kind)
		again := slices.Clone(y)
		f.Multiply(alpha, beta, x, again)
		for i := range out {
			require.Equal(t, math.Float64bits(float64(out[i])), math.Float64bits(float64(again[i])), "a second product differs")
		}
	})
}

func SortedKeys[T any](m map[string]T) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// BlockMatrix has full blocks of one shape after a few rows of another block.
func BlockMatrix(r *rand.Rand, height, width, cut int) Pattern {
	p := Pattern{Cols: 40 * width}
	for range 30 {
		var row []int32
		for b := range int32(40) {
			if r.IntN(4) == 0 {
				for j := range int32(width) {
					row = append(row, b*int32(width)+j)
				}
			}
		}
		for range height {
			p.Rows = append(p.Rows, row)
		}
	}
	p.Rows = p.Rows[cut:]
	return p
}

// Tridiagonal is a matrix with the values -1, 2, -1 in most rows.
func Tridiagonal(n int, value func(k int) float64) *sparse.CSR[float64] {
	p := Pattern{Cols: n}
	for i := range int32(n) {
		row := []int32{i - 1, i, i + 1}
		p.Rows = append(p.Rows, row[max(0, 1-i):min(3, int32(n)-i+1)])
	}
	k := 0
	return p.CSR(func() float64 { k++; return value(k) })
}

// Band returns a matrix with entries at most a distance from the diagonal.
func Band(n, distance int) Pattern {
	p := Pattern{Cols: n}
	for row := range n {
		var columns []int32
		for c := max(0, row-distance); c <= min(n-1, row+distance); c++ {
			columns = append(columns, int32(c))
		}
		p.Rows = append(p.Rows, columns)
	}
	return p
}
