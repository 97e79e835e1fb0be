package msrep

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/reference"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

func TestProductsReadAsMuchOfEachValueAsThePlanSays(t *testing.T) {
	a := blocksOf4(60)
	for k := range a.Val {
		a.Val[k] = math.Sin(float64(k))
	}
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i], y[i] = math.Cos(float64(i)), float64(i%7)
	}
	sys := openCPU(t, "cpu:2")
	for _, p := range []kernels.Precision{{Segments: 2, Read: 0}, {Segments: 2, Read: 3}, {Segments: 3, Read: 1}} {
		_, err := NewPlan(t.Context(), sys, sparse.Matrix[float64](a), PlanOptions{Precision: p})
		require.ErrorContains(t, err, fmt.Sprintf("precision: %d of %d segments", p.Read, p.Segments))
	}
	for _, p := range []kernels.Precision{{Segments: 2, Read: 1}, {Segments: 4, Read: 3}, {Segments: 2, Read: 2}} {
		cut := *a
		cut.Val = slices.Clone(a.Val)
		for k, v := range cut.Val {
			cut.Val[k] = cpms.Keep(v, p.Read*64/p.Segments, cpms.Truncate)
		}
		for _, o := range []PlanOptions{{}, {Format: "ell"}, {Format: "pellr", Release: true}, {ExpectedTransposed: 1}} {
			o.Precision = p
			plan := planOf(t, sys, sparse.Matrix[float64](a), o)
			for _, op := range []Op{NoTrans, Trans} {
				got := slices.Clone(y)
				multiply(t, plan, op, 2, x, -.5, got)
				require.Equal(t, -1, reference.Check(got, reference.Multiply[float64](op == Trans, 2, &cut, x, -.5, y)), "%+v", o)
			}
			require.NoError(t, plan.Close())
		}
	}
}
