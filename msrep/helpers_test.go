package msrep

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
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

// testingT is a *testing.T or a *rapid.T.
type testingT interface {
	require.TestingT
	Helper()
	Cleanup(func())
}

// open returns a System that is closed at the end of the test. If the environment has MSREP_TEST_OWN_CONTEXTS, devices
// on a listed GPU have a context each, so that one GPU can stand for several.
func open(t testingT, c Config) *System {
	t.Helper()
	if os.Getenv("MSREP_TEST_OWN_CONTEXTS") != "" && strings.HasPrefix(c.Devices, "cuda:") {
		c.Devices = strings.ReplaceAll(c.Devices, ",", "+")
	}
	sys, err := Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}

func openCPU(t testingT, devices string) *System {
	t.Helper()
	return open(t, Config{Devices: devices})
}

// planOf returns a plan. Close of its System closes it.
func planOf[V sparse.Value](t require.TestingT, sys *System, a sparse.Matrix[V], o PlanOptions) *Plan[V] {
	plan, err := NewPlan(ctx, sys, a, o)
	require.NoError(t, err)
	return plan
}

// generated returns the matrix of a generator specification.
func generated(t require.TestingT, spec string) *sparse.CSR[float64] {
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	return a
}

// multiplyMany calls SpMM and requires success.
func multiplyMany[V sparse.Value](t require.TestingT, p *Plan[V], op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V]) {
	err := p.SpMM(ctx, op, alpha, x, beta, y)
	require.NoError(t, err)
}

// multiply calls SpMV and requires success.
func multiply[V sparse.Value](t require.TestingT, p *Plan[V], op Transpose, alpha V, x []V, beta V, y []V) {
	err := p.SpMV(ctx, op, alpha, x, beta, y)
	require.NoError(t, err)
}

// endsAfter is a context that ends after a number of calls of Err.
type endsAfter struct {
	context.Context
	left atomic.Int64
}

func newEndsAfter(calls int) *endsAfter {
	c := &endsAfter{Context: ctx}
	c.left.Store(int64(calls))
	return c
}

func (c *endsAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}
