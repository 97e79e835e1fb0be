package solver

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/sparse"
)

func TestPreconditionersInvertTheirBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		size := rapid.IntRange(1, 25).Draw(t, "size")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, n)
			for j := range rows[i] {
				if i/size == j/size {
					rows[i][j] = r.NormFloat64()
				}
			}
			rows[i][(i/size*size)+(i%size+1)%min(size, n-i/size*size)] += 40 // needs pivoting
		}
		a := dense(t, rows...)
		m, err := BlockJacobi(a, size)
		require.NoError(t, err)
		b, z := sines(n), make([]float64, n)
		require.NoError(t, m.Apply(b, z))
		for i := range rows {
			require.InDelta(t, b[i], vec.Dot(rows[i], z), 1e-10)
		}
	})
}

func TestPreconditionersSaveIterations(t *testing.T) {
	a := laplacian(t, "stencil:n=40,points=5")
	for i := range a.Rows { // symmetric scaling that a diagonal takes back
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			a.Val[k] *= (1 + float64(i%7)) * (1 + float64(a.ColIdx[k]%7))
		}
	}
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	blocks, err := BlockJacobi(a, 40)
	require.NoError(t, err)
	plan := planOn(t, "cpu:2", a)
	for name, method := range methods {
		if name == "lsmr" { // see TestColumnScalingSavesIterationsOfLSMR
			continue
		}
		var iterations []int
		for _, m := range []Preconditioner{nil, jacobi, blocks} {
			x := make([]float64, a.Rows)
			res, err := method(t.Context(), plan, sines(a.Rows), x, Options{Precond: m, Restart: 200})
			require.NoError(t, err, name)
			require.LessOrEqual(t, trueResidual(t, a, sines(a.Rows), x), 1.01e-8, name)
			iterations = append(iterations, res.Iterations)
		}
		require.Less(t, 2*iterations[1], iterations[0], name)
		require.Less(t, iterations[2], iterations[1], name)
	}
}

func TestPreconditionersOfBadMatricesAreRefused(t *testing.T) {
	a := dense(t, []float64{1, 0, 0}, []float64{0, 0, 1}, []float64{0, 1, 0})
	_, err := Jacobi(a)
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "row 1 is 0")
	_, err = BlockJacobi(a, 2)
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "rows 0 to 1 is singular")
	_, err = BlockJacobi(a, 3)
	require.NoError(t, err)
	for _, size := range []int{0, -1, MaxBlockSize + 1} {
		_, err = BlockJacobi(a, size)
		require.ErrorContains(t, err, "block size")
	}
	_, err = Jacobi(nil)
	require.True(t, sparse.IsInput(err))
}
