package solver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// withMemory makes solvers see this number of available bytes.
func withMemory(t *testing.T, bytes int64) {
	t.Cleanup(mem.SetAvailable(bytes))
}

// unit is the identity matrix as an operator that counts its products.
type unit struct{ n, products int }

func (m *unit) Dims() (int, int) { return m.n, m.n }

func (m *unit) SpMV(_ context.Context, _ msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	m.products++
	for i := range y {
		y[i] = alpha*x[i] + beta*y[i]
	}
	return nil
}

func (m *unit) SpMM(ctx context.Context, op msrep.Transpose, alpha float64, x msrep.MultiVector[float64], beta float64, y msrep.MultiVector[float64]) error {
	return m.SpMV(ctx, op, alpha, x.Val, beta, y.Val)
}

func TestVectorsThatDoNotFitInMemoryAreRefused(t *testing.T) {
	const n, vector = 1 << 20, 8 << 20
	b := make([]float64, n)
	for i := range b {
		b[i] = 1
	}
	few := Options{Restart: 50}
	long := Options{Restart: 50, MaxIter: 4}
	preconditioned := Options{Precond: &fragile{n: n, left: 1 << 30}}
	for _, c := range []struct {
		method  string
		opt     Options
		vectors int64
		beside  int64 // numbers
		message string
	}{
		{"cg", few, 4, 0, "x: 1048576 elements: the 4 vectors that cg keeps take 33554432 bytes, 33554431 are available"},
		{"cg", preconditioned, 5, 0, "x: 1048576 elements: the 5 vectors that cg"},
		{"bicgstab", few, 6, 0, "x: 1048576 elements: the 6 vectors that bicgstab"},
		{"bicgstab", preconditioned, 8, 0, "x: 1048576 elements: the 8 vectors that bicgstab"},
		{"gmres", few, 53, 50 * 53, "restart: 50: the 53 vectors of 1048576 elements and the triangles that gmres keeps take 444617424 bytes, 444617423 are available"},
		{"gmres", long, 7, 4 * 7, "restart: 50: the 7 vectors of"},
		{"minres", few, 7, 0, "x: 1048576 elements: the 7 vectors that minres"},
		{"minres", preconditioned, 9, 0, "x: 1048576 elements: the 9 vectors that minres"},
		{"fgmres", few, 53, 50 * 53, "restart: 50: the 53 vectors of"},
		{"fgmres", preconditioned, 63, 30 * 33, "restart: 30: the 63 vectors of 1048576 elements and the triangles that fgmres"},
		{"idr", few, 16, 0, "x: 1048576 elements: the 16 vectors that idr"},
		{"idr", preconditioned, 17, 0, "x: 1048576 elements: the 17 vectors that idr"},
		{"lsmr", few, 6, 0, "x: 1048576 elements: the 3 vectors like it and 3 like b that lsmr"},
		{"lsmr", preconditioned, 9, 0, "x: 1048576 elements: the 6 vectors like it and 3 like b that lsmr"},
		{"lsmr", Options{Damping: 1}, 7, 0, "x: 1048576 elements: the 4 vectors like it and 3 like b that lsmr"},
		{"refine", few, 3, 0, "x: 1048576 elements: the 3 vectors that refine"},
	} {
		withMemory(t, c.vectors*vector+8*c.beside-1)
		a, x := &unit{n: n}, make([]float64, n)
		res, err := allMethods()[c.method](t.Context(), a, b, x, c.opt)
		require.ErrorContains(t, err, c.message)
		require.True(t, sparse.IsInput(err))
		require.Nil(t, res)
		require.Zero(t, a.products)
		withMemory(t, max(c.vectors, 4)*vector+8*c.beside) // of the solve within Refine
		_, err = allMethods()[c.method](t.Context(), a, b, x, c.opt)
		require.NoError(t, err, c.method)
	}
}

func TestVectorsOfManySystemsThatDoNotFitInMemoryAreRefused(t *testing.T) {
	const n, systems = 1 << 16, 8
	b, x := msrep.MultiVectorByRow(make([]float64, n*systems), systems), msrep.MultiVectorByRow(make([]float64, n*systems), systems)
	for i := range b.Val {
		b.Val[i] = 1
	}
	for _, c := range []struct {
		opt     Options
		vectors int64
		message string
	}{
		{Options{}, 4*systems + 3, "x: 8 vectors of 65536 elements: the 4 vectors for each that cg keeps take 18350080 bytes, 18350079 are available"},
		{Options{Precond: &fragile{n: n, left: 1 << 30}}, 4*systems + 3, "the 4 vectors for each"},
	} {
		withMemory(t, 8*n*c.vectors-1)
		_, err := CGMany(t.Context(), &unit{n: n}, b, x, c.opt)
		require.ErrorContains(t, err, c.message)
		require.True(t, sparse.IsInput(err))
		withMemory(t, 8*n*c.vectors)
		_, err = CGMany(t.Context(), &unit{n: n}, b, x, c.opt)
		require.NoError(t, err)
	}
}

func TestAllProcessesEndWhereOneIsOutOfMemory(t *testing.T) {
	a := laplacian(t, "stencil:n=100,points=5")
	withMemory(t, 64<<20)
	_, _, errs := together(members(t, a, false, 9000), sines(a.Rows), func(m *member, b, x []float64) (*Result, error) {
		return GMRES(t.Context(), m, b, x, Options{Restart: 1000})
	})
	require.True(t, sparse.IsInput(errs[0]), "%v", errs[0])
	require.ErrorContains(t, errs[0], "restart: 1000: the 1003 vectors of 9000 elements")
	require.ErrorIs(t, errs[1], ErrOtherProcess)
}

func TestPreconditionersThatDoNotFitInMemoryAreRefused(t *testing.T) {
	const n = 2<<20 + 1
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	withMemory(t, 0)
	_, err := Jacobi(a)
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "preconditioner: 2097153 elements: the inverse of the diagonal takes 16777224 bytes, 0 are available")
}
