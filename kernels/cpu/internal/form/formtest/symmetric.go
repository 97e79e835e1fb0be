package formtest

import (
	"math"
	"math/rand/v2"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// SymmetricCSR returns a matrix of that pattern with symmetric values.
func SymmetricCSR[V sparse.Value](p Pattern, value func() float64) *sparse.CSR[V] {
	of := map[[2]int]V{}
	a := &sparse.CSR[V]{Rows: p.Cols, Cols: p.Cols, RowPtr: []int64{0}}
	for r, row := range p.Rows {
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

// Halves computes products of rows of a symmetric matrix of which half are stored.
type Halves[V sparse.Value] interface {
	Multiply(alpha, beta V, x, y []V, to func(lo, hi int) []V)
	MultiplyMany(alpha, beta V, x, y form.MultiVector[V], to func(lo, hi int) form.MultiVector[V])
	Reach() (lo, hi int)
	Name() string
}

// CheckHalves checks products of a matrix of that pattern, which is built in two pieces; the second
// one begins with a multiple of some rows.
func CheckHalves[V sparse.Value](t *rapid.T, r *rand.Rand, p Pattern, multiple int, build func(rows form.Rows[V], first int) (Halves[V], error)) {
	var g Guards
	defer g.Free(t)
	values := ValueKinds[rapid.SampledFrom(SortedKeys(ValueKinds)).Draw(t, "values")]
	a := SymmetricCSR[V](p, func() float64 { return values(r) })
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
	x, y = Guarded(t, &g, x, atEnd), Guarded(t, &g, y, atEnd)

	cut := r.IntN(a.Rows/multiple+1) * multiple
	for _, rows := range [][2]int{{0, cut}, {cut, a.Rows}} {
		lo, hi := a.RowPtr[rows[0]], a.RowPtr[rows[1]]
		s, err := build(form.Rows[V]{Ptr: a.RowPtr[rows[0] : rows[1]+1], Idx: a.ColIdx[lo:hi], Val: a.Val[lo:hi], Cols: a.Cols,
			Mem: &form.Memory{Alloc: func(n int64) ([]byte, error) { return g.Bytes(n, 64, atEnd) }}}, rows[0])
		if sparse.IsInput(err) {
			return // too many places in few rows
		}
		require.NoError(t, err)
		require.Contains(t, s.Name(), "symmetric")
		low, top := s.Reach()
		spill := Guarded(t, &g, make([]V, top-low), atEnd)
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
