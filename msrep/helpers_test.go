package msrep

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

var ctx = context.Background()

func small(t *testing.T) *sparse.CSR[float64] {
	m, err := sparse.NewCSR(3, 4, []int64{0, 2, 2, 3}, []int32{0, 3, 1}, []float64{1, 2, 3})
	require.NoError(t, err)
	return m
}

// tester is a test, of rapid too.
type tester interface {
	require.TestingT
	Helper()
	Cleanup(func())
}

// open is a System that is closed when the test ends, if it is not before.
func open(t tester, c Config) *System {
	t.Helper()
	sys, err := Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}

func openCPU(t tester, devices string) *System {
	t.Helper()
	return open(t, Config{Devices: devices})
}

// planOf is a plan, which its System closes.
func planOf[V sparse.Value](t require.TestingT, sys *System, a sparse.Matrix[V], o PlanOptions) *Plan[V] {
	plan, err := NewPlan(ctx, sys, a, o)
	require.NoError(t, err)
	return plan
}

// generated is the matrix of a spec.
func generated(t require.TestingT, spec string) *sparse.CSR[float64] {
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	return a
}

// multiplyMany is SpMM, which must not fail.
func multiplyMany[V sparse.Value](t require.TestingT, p *Plan[V], op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V]) {
	err := p.SpMM(ctx, op, alpha, x, beta, y)
	require.NoError(t, err)
}

// multiply is SpMV, which must not fail.
func multiply[V sparse.Value](t require.TestingT, p *Plan[V], op Transpose, alpha V, x []V, beta V, y []V) {
	err := p.SpMV(ctx, op, alpha, x, beta, y)
	require.NoError(t, err)
}
