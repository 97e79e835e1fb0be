package cpu_test

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// unevenCSR is a matrix with empty rows at both ends, short rows, and one row with half of the entries.
func unevenCSR(rng *rand.Rand, rows, cols int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for r := range rows {
		n := rng.Intn(6)
		switch {
		case r < 3 || r >= rows-3:
			n = 0
		case r == rows/2:
			n = 3 * rows
		}
		for range n {
			a.ColIdx = append(a.ColIdx, int32(rng.Intn(cols)))
			a.Val = append(a.Val, rng.NormFloat64())
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	return a
}

func TestProductsWithManyVectorsAreThoseOfEach(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, threads := range []int{1, 3, 7} {
		for _, parts := range []int{1, 2, 5} {
			for _, k := range []int{1, 2, 8, 19, 64} {
				t.Run(fmt.Sprintf("%d workers, %d parts, %d vectors", threads, parts, k), func(t *testing.T) {
					checkMany(t, rng, threads, parts, k, plainMany)
				})
			}
		}
	}
}

// manyOp makes the kernel call for a part of a matrix. op has all arguments but the matrix.
type manyOp func(t *testing.T, d *cpu.Device, a *sparse.CSR[float64], p partition.Part, op kernels.MajorProductMany[float64]) kernels.Operation

// plainMany multiplies by the arrays as they are.
func plainMany(_ *testing.T, d *cpu.Device, a *sparse.CSR[float64], p partition.Part, op kernels.MajorProductMany[float64]) kernels.Operation {
	op.A = kernels.Compressed[float64]{Part: p.Shift(p.First(), 0),
		Ptr: kernels.AdoptArray(d, a.RowPtr[p.First():p.End()+1]),
		Idx: kernels.AdoptArray(d, a.ColIdx[p.StartIdx:p.EndIdx+1]),
		Val: kernels.AdoptArray(d, a.Val[p.StartIdx:p.EndIdx+1])}
	return &op
}

// checkMany multiplies the parts one after the other and adds the carries.
func checkMany(t *testing.T, rng *rand.Rand, threads, parts, k int, call manyOp) {
	d, s := open(t, cpu.Config{Threads: threads, Grain: 1})
	defer d.Close()
	a := unevenCSR(rng, 90, 70)
	gap := 2 * (parts % 2)
	alpha, beta := 1.5, -0.5
	x, y := make([]float64, a.Cols*(k+gap)), make([]float64, a.Rows*(k+gap))
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	column := func(v []float64, j int) (out []float64) {
		for i := j; i < len(v); i += k + gap {
			out = append(out, v[i])
		}
		return out
	}
	want := make([]reference.Product, k)
	for j := range want {
		want[j] = reference.Multiply(false, alpha, a, column(x, j), beta, column(y, j))
	}
	split := splitOf(t, a, parts)
	carries := make([][]float64, parts)
	for i, p := range split {
		carries[i] = make([]float64, k)
		lo, hi := p.OwnFirst*(k+gap), p.OwnEnd*(k+gap)
		require.NoError(t, s.Launch(call(t, d, a, p, kernels.MajorProductMany[float64]{
			Alpha: alpha, Beta: beta,
			X:     kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, x), Cols: k, Stride: k + gap},
			Y:     kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, y[lo:hi]), Cols: k, Stride: k + gap},
			Carry: kernels.AdoptArray(d, carries[i]),
		})))
	}
	for i, p := range split {
		if p.StartFlag {
			for j, c := range carries[i] {
				y[p.StartMajor*(k+gap)+j] += c
			}
		}
	}
	for j := range want {
		require.Equal(t, -1, reference.Check(column(y, j), want[j]), "column %d", j)
	}
}

func TestProductsWithManyVectorsCheckTheirArguments(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2})
	defer d.Close()
	val := func(n int) kernels.Array[float64] { return kernels.AdoptArray(d, make([]float64, n)) }
	block := func(n, cols, stride int) kernels.MultiVector[float64] {
		return kernels.MultiVector[float64]{Val: val(n), Cols: cols, Stride: stride}
	}
	a := kernels.Compressed[float64]{Part: partition.Part{EndIdx: 1, EndMajor: 1, OwnEnd: 2},
		Ptr: kernels.AdoptArray(d, []int64{0, 1, 2}), Idx: kernels.AdoptArray(d, []int32{0, 1}), Val: val(2)}
	launch := func(x, y kernels.MultiVector[float64]) error {
		return s.Launch(&kernels.MajorProductMany[float64]{A: a, Alpha: 1, X: x, Y: y})
	}
	require.NoError(t, launch(block(6, 3, 3), block(6, 3, 3)))
	for name, err := range map[string]error{
		"no columns":        launch(block(6, 0, 3), block(6, 0, 3)),
		"short stride":      launch(block(6, 3, 2), block(6, 3, 3)),
		"huge stride":       launch(block(6, 3, math.MaxInt), block(6, 3, 3)),
		"different columns": launch(block(6, 3, 3), block(6, 2, 3)),
		"y short":           launch(block(6, 3, 3), block(5, 3, 3)),
		"index":             launch(block(5, 3, 3), block(6, 3, 3)),
		"index, empty x":    launch(block(0, 3, 3), block(6, 3, 3)),
	} {
		require.ErrorIs(t, err, kernels.ErrArgument, name)
		require.ErrorContains(t, err, "major-product-many", name)
	}
}
