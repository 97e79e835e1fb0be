package msrep

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

func TestTheSameSliceOfValuesMayBeUsedAgain(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	for _, spec := range []string{"stencil:dims=3,n=9,points=27", "random:rows=300,nnz=3k", "powerlaw:rows=500,nnz=9k,r=2"} {
		a := generated(t, spec)
		val := make([]float64, a.NNZ())
		fill := func(step int, symmetric bool) {
			for i := range a.Rows {
				for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
					j := int(a.ColIdx[k])
					val[k] = math.Sin(float64(step+1) * float64(i+j+1))
					if !symmetric {
						val[k] += float64(i)
					}
				}
			}
		}
		x := make([]float64, a.Cols)
		for i := range x {
			x[i] = math.Cos(float64(i))
		}
		for _, format := range []sparse.Format{FormatAuto, sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO, "sell"} {
			fill(0, true)
			m := *a
			m.Val = val
			plan := planOf(t, sys, &m, PlanOptions{Storage: NamedStorage(string(format))})
			for step, symmetric := range []bool{true, true, false, true} {
				fill(step, symmetric)
				require.NoError(t, plan.UpdateValues(ctx, val))
				y := make([]float64, a.Rows)
				multiply(t, plan, NoTrans, 1, x, 0, y)
				want := reference.Multiply(false, 1, &m, x, 0, y)
				for i := range y {
					require.InDelta(t, want.Y[i], y[i], 1e-13*want.Scale[i], fmt.Sprintf("%s as %s, step %d, row %d", spec, format, step, i))
				}
			}
			require.NoError(t, plan.Close())
		}
	}
}

func TestValuesOfAnyFormatAreUpdatedInTheirOrder(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	csr, csc, coo := small(t), sparse.ToCSC[float64](small(t)), sparse.ToCOO[float64](small(t))
	val := []float64{math.Sqrt2, math.E, math.Pi}
	newCSR, newCSC, newCOO := *csr, *csc, *coo
	newCSR.Val, newCSC.Val, newCOO.Val = val, val, val
	for _, m := range []struct{ old, new sparse.Matrix[float64] }{{csr, &newCSR}, {csc, &newCSC}, {coo, &newCOO}} {
		for _, format := range []sparse.Format{FormatAuto, sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO} {
			for _, products := range []int{1, 100} {
				plan := planOf(t, sys, m.old, PlanOptions{Storage: Storage{Format: format}, Expected: Expected{Products: products, Transposed: 2}})
				require.NoError(t, plan.UpdateValues(ctx, val))
				for _, op := range []Transpose{NoTrans, Trans} {
					x, y := []float64{1, 10, 100, 1000}, make([]float64, 3)
					if op == Trans {
						x, y = x[:3], make([]float64, 4)
					}
					multiply(t, plan, op, 1, x, 0, y)
					want := reference.Multiply(bool(op), 1, m.new, x, 0, make([]float64, len(y)))
					require.Equal(t, -1, reference.Check(y, want), "%s as %s, %v: %v", m.old.Format(), format, op, y)
				}
				require.NoError(t, plan.Close())
			}
		}
	}
}

func TestAContextThatEndsLeavesAllValuesOrNoneReplaced(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=40,points=9")
	x := make([]float64, a.Cols)
	for i := range x {
		x[i] = math.Cos(float64(i))
	}
	for _, devices := range []string{"cpu:2", "sim:2"} {
		sys := openCPU(t, devices)
		for _, opt := range []PlanOptions{{}, {Storage: Storage{Format: sparse.FormatCSR}}, {Storage: Storage{Form: "slices"}, Expected: Expected{Transposed: 100}}, {Variant: Variant{Strategy: Partial}}} {
			plan := planOf(t, sys, sparse.Matrix[float64](a), opt)
			m := *a
			for left := range 4 {
				val := slices.Clone(m.Val)
				for k := range val {
					val[k] += float64(k%7) - 3
				}
				err := plan.UpdateValues(newEndsAfter(left), val)
				if left == 0 {
					require.ErrorIs(t, err, context.Canceled)
				} else {
					require.NoError(t, err)
					m.Val = val
				}
				for _, op := range []Transpose{NoTrans, Trans} {
					y := make([]float64, a.Rows)
					multiply(t, plan, op, 1, x, 0, y)
					require.Equal(t, -1, reference.Check(y, reference.Multiply(bool(op), 1, &m, x, 0, y)), "%s %+v, %d times, op %v", devices, opt, left, op)
				}
			}
			require.NoError(t, plan.Close())
		}
	}
}

// panicking is a device that panics in Pack after a number of calls.
type panicking struct {
	*cpu.Device
	packs int
}

func (d *panicking) Pack(op kernels.Operation) (kernels.Packed, error) {
	if d.packs--; d.packs < 0 {
		panic("no more")
	}
	return d.Device.Pack(op)
}

func TestAPlanIsUnusableAfterAnIncompleteUpdate(t *testing.T) {
	sys := testSystem(t, 2, false)
	sys.devices().List[1] = &panicking{sys.devices().List[1].(*cpu.Device), 1}
	a := small(t)
	plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Form: "slices"}})
	require.ErrorContains(t, plan.UpdateValues(ctx, []float64{7, 8, 9}), "internal error: no more")
	err := plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	require.ErrorContains(t, err, "unusable after an earlier error: an update of the values was not completed")
	require.NoError(t, sys.Close())
}
