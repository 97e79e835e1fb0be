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

func TestSymmetricDiagonalsMultiplyAsTheReference(t *testing.T) {
	eachLevel(t, checkSymmetric[float64], checkSymmetric[float32])
}

// symmetricPattern returns a symmetric matrix of a few diagonals, near and far, adjacent or not,
// with some entries missing.
func symmetricPattern(r *rand.Rand) pattern {
	n := 1 + r.IntN(300)
	if r.IntN(4) == 0 {
		n = 1000 + r.IntN(1200) // several windows
	}
	missing := []float64{0, .01, .3}[r.IntN(3)]
	present := map[[2]int]bool{}
	for range r.IntN(6) {
		first := 1 + r.IntN([]int{8, 40, n}[r.IntN(3)])
		for d := first; d < first+1+r.IntN(5); d++ {
			for row := d; row < n; row++ {
				if r.Float64() >= missing {
					present[[2]int{row, row - d}], present[[2]int{row - d, row}] = true, true
				}
			}
		}
	}
	if r.IntN(4) > 0 {
		for row := range n {
			if r.Float64() >= missing {
				present[[2]int{row, row}] = true
			}
		}
	}
	p := pattern{cols: n, rows: make([][]int32, n)}
	for at := range present {
		p.rows[at[0]] = append(p.rows[at[0]], int32(at[1]))
	}
	for _, row := range p.rows {
		slices.Sort(row)
	}
	return p
}

// symmetricCSR returns a matrix of that pattern with symmetric values.
func symmetricCSR[V sparse.Value](p pattern, value func() float64) *sparse.CSR[V] {
	of := map[[2]int]V{}
	a := &sparse.CSR[V]{Rows: p.cols, Cols: p.cols, RowPtr: []int64{0}}
	for r, row := range p.rows {
		for _, c := range row {
			at := [2]int{max(r, int(c)), min(r, int(c))}
			if _, ok := of[at]; !ok {
				of[at] = V(value())
			}
			a.ColIdx, a.Val = append(a.ColIdx, c), append(a.Val, of[at])
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	return a
}

func checkSymmetric[V sparse.Value](t *testing.T, l simd.Level) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		checkHalves(t, r, symmetricPattern(r), form.SymmetricRows, func(rows form.Rows[V], first int) (halves[V], error) { return form.NewSymmetric(rows, first, l) })
	})
}

// halves computes products of rows of a symmetric matrix of which half are stored.
type halves[V sparse.Value] interface {
	Multiply(alpha, beta V, x, y []V, to func(lo, hi int) []V)
	MultiplyMany(alpha, beta V, x, y simd.MultiVector[V], to func(lo, hi int) simd.MultiVector[V])
	Reach() (lo, hi int)
	Name() string
}

// checkHalves checks products of a matrix of that pattern, which is built in two pieces; the second
// one begins with a multiple of some rows.
func checkHalves[V sparse.Value](t *rapid.T, r *rand.Rand, p pattern, multiple int, build func(rows form.Rows[V], first int) (halves[V], error)) {
	var g guards
	defer g.free(t)
	values := valueKinds[rapid.SampledFrom(sortedKeys(valueKinds)).Draw(t, "values")]
	a := symmetricCSR[V](p, func() float64 { return values(r) })
	atEnd := rapid.Bool().Draw(t, "at the end")
	alpha := rapid.SampledFrom([]V{1, -.7, 30}).Draw(t, "alpha")
	beta := rapid.SampledFrom([]V{0, V(math.Copysign(0, -1)), 1, .4}).Draw(t, "beta")
	x, y := make([]V, a.Rows), make([]V, a.Rows)
	for i := range x {
		x[i], y[i] = V(r.NormFloat64()), V(r.NormFloat64())
	}
	if rapid.Bool().Draw(t, "special") {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			x[r.IntN(len(x))], y[r.IntN(len(y))] = V(v), V(v)
		}
	}
	want := reference.Multiply(false, alpha, sparse.Matrix[V](a), x, beta, y)
	many := newHalvesOfMany(t, r, &g, a, alpha, beta, atEnd)
	x, y = guarded(t, &g, x, atEnd), guarded(t, &g, y, atEnd)

	cut := r.IntN(a.Rows/multiple+1) * multiple
	for _, rows := range [][2]int{{0, cut}, {cut, a.Rows}} {
		lo, hi := a.RowPtr[rows[0]], a.RowPtr[rows[1]]
		s, err := build(form.Rows[V]{Ptr: a.RowPtr[rows[0] : rows[1]+1], Idx: a.ColIdx[lo:hi], Val: a.Val[lo:hi], Cols: a.Cols,
			Mem: &form.Memory{Alloc: func(n int64) ([]byte, error) { return g.bytes(n, 64, atEnd) }}}, rows[0])
		if sparse.IsInput(err) {
			return // too many places in few rows
		}
		require.NoError(t, err)
		require.Contains(t, s.Name(), "symmetric")
		low, top := s.Reach()
		spill := guarded(t, &g, make([]V, top-low), atEnd)
		s.Multiply(alpha, beta, x, y[rows[0]:rows[1]], func(lo, hi int) []V {
			require.Less(t, lo, hi)
			if lo >= rows[0] {
				require.LessOrEqual(t, hi, rows[1])
				return y[lo:hi]
			}
			return spill[lo-low : hi-low]
		})
		for i, v := range spill {
			y[low+i] += v
		}
		many.multiply(t, s, rows[0], rows[1])
	}
	require.Equal(t, -1, reference.Check(y, want))
	many.check(t)
}

func TestSymmetricDiagonalsTakeHalfTheMemory(t *testing.T) {
	a := tridiagonal(5000, func(k int) float64 { return float64((k + 1) / 3) })
	rows := rowsOf(a)
	d := must(form.NewDiagonals(rows, form.DiagonalOptions[float64]{Level: simd.Best()}))(t)
	require.Equal(t, simd.FastSymmetric(simd.Best()), form.SuitsSymmetric(d))
	s := must(form.NewSymmetric(rows, 0, simd.Best()))(t)
	require.Less(t, float64(s.Bytes()), .7*float64(d.Bytes()))
	require.LessOrEqual(t, s.Padding(), int64(8))
}
