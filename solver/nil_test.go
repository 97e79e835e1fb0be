package solver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func TestNilAndClosedArgumentsAreErrors(t *testing.T) {
	sys := open(t, "cpu:1")
	a := dense(t, []float64{1, 0}, []float64{0, 2})
	plan := planOf(t, sys, a, msrep.PlanOptions{})
	var none context.Context
	var noPlan *msrep.Plan[float64]
	b, x := []float64{1, 2}, make([]float64, 2)
	one := func(v []float64) msrep.MultiVector[float64] { return msrep.MultiVectorByRow(v, 1) }
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	blocks, err := BlockJacobi(a, 2)
	require.NoError(t, err)

	var errs []error
	for name, method := range allMethods() {
		for _, op := range []Operator{nil, noPlan} {
			_, err := method(t.Context(), op, b, x, Options{})
			require.ErrorContains(t, err, "nil", name)
			errs = append(errs, err)
		}
		_, noCtx := method(none, plan, b, x, Options{})
		_, noX := method(t.Context(), plan, b, nil, Options{})
		errs = append(errs, noCtx, noX)
		if name != "power" {
			_, noM := method(t.Context(), plan, b, x, Options{Precond: (*fragile)(nil)})
			errs = append(errs, noM)
		}
	}
	add := func(_ any, err error) { errs = append(errs, err) }
	add(CGMany(t.Context(), nil, one(b), one(x), Options{}))
	add(CGMany(t.Context(), noPlan, one(b), one(x), Options{}))
	add(CGMany(none, plan, one(b), one(x), Options{}))
	add(CGMany(t.Context(), plan, msrep.MultiVector[float64]{}, one(x), Options{}))
	add(Refine(t.Context(), plan, Single(nil), CG, b, x, Options{}, Options{}))
	add(Refine(t.Context(), plan, plan, nil, b, x, Options{}, Options{}))
	add(Richardson(t.Context(), nil, b, x, Options{Precond: jacobi}))
	add(Richardson(t.Context(), plan, b, x, Options{}))
	add(Richardson(none, plan, b, x, Options{Precond: jacobi}))
	add(ColumnScaling(nil))
	add(ColumnScaling((*sparse.CSR[float64])(nil)))
	add(Jacobi(nil))
	add(Jacobi((*sparse.CSR[float64])(nil)))
	type named struct{ *sparse.CSR[float64] } // as matio.Matrix
	add(Jacobi((*named)(nil)))
	add(BlockJacobi(&named{}, 2))
	add(BlockJacobi(nil, 2))
	for _, m := range []Preconditioner{jacobi, blocks} {
		add(nil, m.Apply(nil, x))
		add(nil, m.Apply(b, nil))
	}
	for i, err := range errs {
		require.True(t, sparse.IsInput(err), "%d: %v", i, err)
	}
}
