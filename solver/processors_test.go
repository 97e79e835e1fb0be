package solver

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
)

// The hashes are from a processor for which the compiler never uses fused multiply-add. CI repeats this test on an
// emulated processor for which it does.
func TestDeterministicSolutionsHaveTheSameBitsOnEveryProcessor(t *testing.T) {
	a := laplacian(t, "stencil:n=40,points=5")
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]float64, a.Rows)
	for i := range b {
		b[i] = random.Float64() - 0.5
	}
	for k := range a.Val {
		a.Val[k] *= 1 + a.Val[k]/math.Pi/1000 // so that products are rounded
	}
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	blocks, err := BlockJacobi(a, 5)
	require.NoError(t, err)
	sys := openAs(t, msrep.Config{Devices: "cpu:2"})
	plan := planOf(t, sys, a, msrep.PlanOptions{Deterministic: true})
	for _, c := range []struct {
		name   string
		method func(x []float64) error
		bits   string
	}{
		{"cg", func(x []float64) error { _, err := CG(t.Context(), plan, b, x, Options{}); return err }, "c5ccf8c0ec64bfeb"},
		{"cg, jacobi", func(x []float64) error { _, err := CG(t.Context(), plan, b, x, Options{Precond: jacobi}); return err }, "b763335bf96a7d6b"},
		{"bicgstab", func(x []float64) error {
			_, err := BiCGSTAB(t.Context(), plan, b, x, Options{Precond: blocks})
			return err
		}, "e5b9607004f5406c"},
		{"gmres", func(x []float64) error { _, err := GMRES(t.Context(), plan, b, x, Options{}); return err }, "8384b3043a7718e7"},
		{"minres, jacobi", func(x []float64) error {
			_, err := MINRES(t.Context(), plan, b, x, Options{Precond: jacobi})
			return err
		}, "5ca1498683635961"},
		{"fgmres, jacobi", func(x []float64) error {
			_, err := FGMRES(t.Context(), plan, b, x, Options{Precond: jacobi})
			return err
		}, "93aaf521adf513b0"},
		{"idr, jacobi", func(x []float64) error { _, err := IDR(t.Context(), plan, b, x, Options{Precond: jacobi}); return err }, "a1d6e0c1c933c1a0"},
		{"lsmr", func(x []float64) error { _, err := LSMR(t.Context(), plan, b, x, Options{Damping: 0.1}); return err }, "dcf48c4d95827e7d"},
		{"power", func(x []float64) error {
			_, _, err := Power(t.Context(), plan, x, Options{Tol: 1e-3})
			return err
		}, "f336d1d948b022b2"},
		{"cgmany, jacobi", func(x []float64) error { return threeSystems(t.Context(), plan, b, x, jacobi) }, "f59aa4500d985d76"},
	} {
		x := make([]float64, a.Rows)
		require.NoError(t, c.method(x), c.name)
		h := fnv.New64a()
		for _, v := range x {
			_, _ = fmt.Fprintf(h, "%x ", math.Float64bits(v))
		}
		require.Equal(t, c.bits, fmt.Sprintf("%x", h.Sum64()), c.name)
	}
}

// threeSystems solves for b and two parts of b by CGMany and returns the sum of the solutions.
func threeSystems(ctx context.Context, plan *msrep.Plan[float64], b, x []float64, m Preconditioner) error {
	const systems = 3
	rhs, out := msrep.MultiVectorByRow(make([]float64, systems*len(b)), systems), msrep.MultiVectorByRow(make([]float64, systems*len(b)), systems)
	for j := range systems {
		part := slices.Clone(b)
		clear(part[:j*len(b)/4])
		rhs.Set(j, part)
	}
	_, err := CGMany(ctx, plan, rhs, out, Options{Precond: m})
	for i := range out.Val {
		x[i/systems] += out.Val[i]
	}
	return err
}
