package factor_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

// kinds are the incomplete factors with their defaults.
var kinds = map[string]func(context.Context, *sparse.CSR[float64]) (*factor.Incomplete, error){
	"ilu0": func(ctx context.Context, a *sparse.CSR[float64]) (*factor.Incomplete, error) {
		return factor.NewILU0(ctx, a, factor.ILU0Options{})
	},
	"ilut": func(ctx context.Context, a *sparse.CSR[float64]) (*factor.Incomplete, error) {
		return factor.NewILUT(ctx, a, factor.ILUTOptions{})
	},
	"ic0": func(ctx context.Context, a *sparse.CSR[float64]) (*factor.Incomplete, error) {
		return factor.NewIC0(ctx, a, factor.IC0Options{})
	},
}

// complete are the options with which NewILUT drops nothing.
var complete = factor.ILUTOptions{Drop: math.SmallestNonzeroFloat64, Fill: math.Inf(1)}

// randomMatrix has about 5 entries in a row, a dense row and a dense column now and then, columns in no order,
// duplicates, zeros on the diagonal, and magnitudes from 1e-9 to 1e9. It is not singular.
func randomMatrix(t *testing.T, r *rand.Rand, n int) *sparse.CSR[float64] {
	t.Helper()
	value := func() float64 { return math.Pow(10, 3*r.NormFloat64()) * r.NormFloat64() }
	rows := make([][]int32, n)
	for i, j := range r.Perm(n) {
		rows[i] = append(rows[i], int32(j)) // a matching
		for range r.IntN(8) {
			rows[i] = append(rows[i], int32(r.IntN(n)))
		}
	}
	if n > 0 && r.IntN(3) == 0 {
		i, j := r.IntN(n), r.IntN(n)
		for k := range n {
			rows[i], rows[k] = append(rows[i], int32(k)), append(rows[k], int32(j))
		}
	}
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
	for i, row := range rows {
		for k, j := range row {
			v := value()
			if k == 0 {
				v = 10 * math.Max(1, math.Abs(v))
			}
			if int(j) == i && k > 0 {
				v = 0
			}
			a.ColIdx, a.Val = append(a.ColIdx, j), append(a.Val, v)
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	require.NoError(t, a.Validate())
	return a
}

// multiply returns A x, or A'x, and with it |A| |x|.
func multiply(a *sparse.CSR[float64], transposed bool, x []float64) (y, size []float64) {
	y, size = make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			to, from := i, int(a.ColIdx[k])
			if transposed {
				to, from = from, to
			}
			y[to] += a.Val[k] * x[from]
			size[to] += math.Abs(a.Val[k] * x[from])
		}
	}
	return y, size
}

func randomVector(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// laplacian is the matrix of the 5-point stencil on m x m points.
func laplacian(m int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: m * m, Cols: m * m, RowPtr: []int64{0}}
	add := func(j int, v float64) { a.ColIdx, a.Val = append(a.ColIdx, int32(j)), append(a.Val, v) }
	for i := range m * m {
		if i >= m {
			add(i-m, -1)
		}
		if i%m > 0 {
			add(i-1, -1)
		}
		add(i, 4)
		if i%m < m-1 {
			add(i+1, -1)
		}
		if i < m*m-m {
			add(i+m, -1)
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}
