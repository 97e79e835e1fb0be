package msrep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// scrambledGrid returns a grid with values of its own, in a random order.
func scrambledGrid(t require.TestingT, spec string) *sparse.CSR[float64] {
	a, r := generated(t, spec), rand.New(rand.NewPCG(8, 8))
	for k := range a.Val {
		a.Val[k] = r.NormFloat64()
	}
	p := make([]int32, a.Rows)
	for i, k := range r.Perm(a.Rows) {
		p[i] = int32(k)
	}
	b, err := sparse.Permute(a, p, p)
	require.NoError(t, err)
	return b
}

// requireProducts checks products of host vectors and of Vectors with a reordered plan.
func requireProducts(t *testing.T, plan *Plan[float64], a sparse.Matrix[float64], r *rand.Rand) {
	t.Helper()
	n, _ := a.Dims()
	for _, op := range []Transpose{NoTrans, Trans} {
		for _, c := range []struct{ alpha, beta float64 }{{1, 0}, {-1.5, 0.5}, {0, 2}} {
			x, y := normalVector[float64](r, n), normalVector[float64](r, n)
			want := reference.Multiply(bool(op), c.alpha, a, x, c.beta, y)
			vx, err := plan.ColumnVector()
			require.NoError(t, err)
			vy, err := plan.RowVector()
			require.NoError(t, err)
			in, out := make([]float64, n), make([]float64, n)
			require.NoError(t, plan.Permute(in, x))
			require.NoError(t, vx.Write(in))
			require.NoError(t, plan.Permute(in, y))
			require.NoError(t, vy.Write(in))
			require.NoError(t, plan.Apply(ctx, op, c.alpha, vx, c.beta, vy))
			require.NoError(t, vy.Read(in))
			require.NoError(t, plan.PermuteBack(out, in))
			require.Equal(t, -1, reference.Check(out, want), "Apply, %v, %+v", op, c)

			multiply(t, plan, op, c.alpha, x, c.beta, y)
			require.Equal(t, -1, reference.Check(y, want), "SpMV, %v, %+v", op, c)
			require.NoError(t, vx.Close())
			require.NoError(t, vy.Close())
		}
	}
}

func TestProductsOfReorderedPlans(t *testing.T) {
	sys := open(t, Config{Devices: "sim:3"})
	a := scrambledGrid(t, "stencil:dims=2,nx=19,ny=23")
	unsorted := sparse.ToCOO[float64](sparse.ToCSC[float64](a))
	for _, m := range []sparse.Matrix[float64]{a, sparse.ToCSC[float64](a), unsorted} {
		for _, o := range []PlanOptions{
			{}, {Expected: Expected{Products: 1}}, {Expected: Expected{Transposed: 2}}, {Deterministic: true}, {Storage: Storage{Form: "sell"}},
			{Storage: Storage{Format: sparse.FormatCSR}}, {Storage: Storage{Format: sparse.FormatCSC}}, {Storage: Storage{Format: sparse.FormatCOO}},
			{Variant: Variant{Split: partition.RuleNNZ}},
		} {
			o.Reorder = true
			t.Run(fmt.Sprintf("%s %+v", m.Format(), o), func(t *testing.T) {
				r := rand.New(rand.NewPCG(9, 9))
				plan := planOf(t, sys, m, o)
				require.Len(t, plan.Reordering(), a.Rows)
				requireProducts(t, plan, m, r)
				val := normalVector[float64](r, len(a.Val))
				require.NoError(t, plan.UpdateValues(ctx, val))
				var changed sparse.Matrix[float64]
				switch m := m.(type) {
				case *sparse.CSR[float64]:
					changed = &sparse.CSR[float64]{Rows: m.Rows, Cols: m.Cols, RowPtr: m.RowPtr, ColIdx: m.ColIdx, Val: val}
				case *sparse.CSC[float64]:
					changed = &sparse.CSC[float64]{Rows: m.Rows, Cols: m.Cols, ColPtr: m.ColPtr, RowIdx: m.RowIdx, Val: val}
				case *sparse.COO[float64]:
					changed = &sparse.COO[float64]{Rows: m.Rows, Cols: m.Cols, RowIdx: m.RowIdx, ColIdx: m.ColIdx, Val: val}
				}
				requireProducts(t, plan, changed, r)
				require.NoError(t, plan.Close())
			})
		}
	}
}

func TestAReorderedPlanHasThePartsOfPartition(t *testing.T) {
	sys := open(t, Config{Devices: "sim:3"})
	a := scrambledGrid(t, "stencil:dims=2,n=20")
	p, cuts, err := order.Partition(t.Context(), a, 3)
	require.NoError(t, err)
	for _, o := range []PlanOptions{{Reorder: true}, {Reorder: true, Expected: Expected{Transposed: 2}}} {
		plan := planOf[float64](t, sys, a, o)
		require.Equal(t, p, plan.Reordering())
		require.Equal(t, partition.RuleWhole, plan.Rule())
		for k, s := range plan.Shares() {
			require.Equal(t, []int{cuts[k], cuts[k+1]}, []int{s.Part.OwnFirst, s.Part.OwnEnd})
		}
		if plan.transposed != nil {
			require.Equal(t, plan.ownCuts(), plan.transposed.ownCuts(), "both have the pieces of the same vectors")
		}
		require.NoError(t, plan.Close())
	}
}

func TestSeveralVectorsWithAReorderedPlan(t *testing.T) {
	sys := open(t, Config{Devices: "sim:3"})
	a := scrambledGrid(t, "stencil:dims=2,n=15")
	n, r := a.Rows, rand.New(rand.NewPCG(10, 10))
	for _, transposed := range []int{0, 2} {
		plan := planOf[float64](t, sys, a, PlanOptions{Reorder: true, Expected: Expected{Transposed: transposed}})
		for _, op := range []Transpose{NoTrans, Trans} {
			x, y := MultiVectorByRow(normalVector[float64](r, 2*n), 2), MultiVectorByRow(normalVector[float64](r, 2*n), 2)
			var want []reference.Product
			xj, yj := make([]float64, n), make([]float64, n)
			for j := range 2 {
				x.Get(j, xj)
				y.Get(j, yj)
				want = append(want, reference.Multiply(bool(op), 2, a, xj, -1, yj))
			}
			multiplyMany(t, plan, op, 2, x, -1, y)
			for j := range 2 {
				y.Get(j, yj)
				require.Equal(t, -1, reference.Check(yj, want[j]))
			}
		}
		require.NoError(t, plan.Close())
	}
}

func TestDeterministicPlansHaveTheSameBitsInAnyOrder(t *testing.T) {
	a := scrambledGrid(t, "stencil:dims=2,n=18")
	r := rand.New(rand.NewPCG(11, 11))
	x, val := normalVector[float64](r, a.Rows), normalVector[float64](r, len(a.Val))
	var want [][]float64
	for _, c := range []struct {
		devices string
		reorder bool
	}{{"cpu:2", false}, {"sim:2", true}, {"sim:3", true}} {
		sys := open(t, Config{Devices: c.devices})
		plan := planOf[float64](t, sys, a, PlanOptions{Deterministic: true, Reorder: c.reorder})
		require.Equal(t, c.reorder, plan.Reordering() != nil)
		var got [][]float64
		for range 2 {
			for _, op := range []Transpose{NoTrans, Trans} {
				y := make([]float64, a.Rows)
				multiply(t, plan, op, 1, x, 0, y)
				got = append(got, y)
			}
			require.NoError(t, plan.UpdateValues(ctx, val))
		}
		if want == nil {
			want = got
		}
		require.Equal(t, want, got, c.devices)
		require.NoError(t, plan.Close())
	}
}

func TestReorderHasNoEffectWhereItDoesNotApply(t *testing.T) {
	grid := scrambledGrid(t, "stencil:dims=2,n=12")
	wide := small(t)
	diagonal := generated(t, "diag:n=50")
	for _, c := range []struct {
		devices string
		a       *sparse.CSR[float64]
		o       PlanOptions
	}{
		{"cpu:2", grid, PlanOptions{}}, {"sim:1", grid, PlanOptions{}}, {"sim:2", wide, PlanOptions{}}, {"sim:2", diagonal, PlanOptions{}},
		{"sim:2", grid, PlanOptions{Variant: Variant{Strategy: Partial}}}, {"sim:2", generated(t, "empty:rows=0"), PlanOptions{}},
	} {
		sys := open(t, Config{Devices: c.devices})
		c.o.Reorder = true
		plan := planOf[float64](t, sys, c.a, c.o)
		require.Nil(t, plan.Reordering())
		x, y := sines(c.a.Cols), make([]float64, c.a.Rows)
		want := reference.Multiply(false, 1, c.a, x, 0, y)
		multiply(t, plan, NoTrans, 1, x, 0, y)
		require.Equal(t, -1, reference.Check(y, want))
		out := make([]float64, len(x))
		require.NoError(t, plan.Permute(out, x))
		require.Equal(t, x, out)
		require.NoError(t, plan.Close())
	}
}

func TestReorderedPlansRefuseWhatOthersDo(t *testing.T) {
	sys := open(t, Config{Devices: "sim:3"})
	a := scrambledGrid(t, "stencil:dims=2,n=20")
	n := a.Rows
	plan := planOf[float64](t, sys, a, PlanOptions{Reorder: true})
	y := make([]float64, n)
	require.ErrorContains(t, plan.SpMV(ctx, NoTrans, 1, y[:3], 0, y), "x: 3 elements")
	require.ErrorContains(t, plan.SpMV(ctx, NoTrans, 1, y, 0, y), "shares memory")
	require.ErrorContains(t, plan.SpMV(ctx, NoTrans, 1, y, 0, a.Val[:n]), "shares memory")
	require.ErrorContains(t, plan.UpdateValues(ctx, y[:3]), "val: 3 values")
	require.EqualError(t, plan.Permute(y, y[:3]), "dst: 400 elements: src has 3")
	require.EqualError(t, plan.PermuteBack(y[:3], make([]float64, 3)), "src: 3 elements: the matrix has 400 rows")
	require.EqualError(t, plan.Permute(y, y), "dst: shares memory with src")
	require.ErrorIs(t, new(Plan[float64]).Permute(y, y), errNoPlan)

	released := planOf[float64](t, sys, a, PlanOptions{Reorder: true, Storage: Storage{Form: "sell", Release: true}})
	multiply(t, released, NoTrans, 1, sines(n), 0, y)
	require.Equal(t, -1, reference.Check(y, reference.Multiply(false, 1, a, sines(n), 0, make([]float64, n))))
	require.ErrorIs(t, released.UpdateValues(ctx, a.Val), errUpdateReleased)

	coo := sparse.ToCOO[float64](sparse.ToCSC[float64](a))
	coo.RowIdx[0], coo.RowIdx[1], coo.ColIdx[0], coo.ColIdx[n] = coo.RowIdx[n], coo.RowIdx[0], coo.ColIdx[n], coo.ColIdx[0]
	_, err := NewPlan(ctx, sys, sparse.Matrix[float64](coo), PlanOptions{Reorder: true, RefuseUnsorted: true})
	require.ErrorIs(t, err, partition.ErrUnsorted)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = NewPlan[float64](ended, sys, a, PlanOptions{Reorder: true})
	require.ErrorIs(t, err, context.Canceled)

	require.NoError(t, plan.Close())
	require.ErrorIs(t, plan.SpMV(ctx, NoTrans, 1, sines(n), 0, y), kernels.ErrClosed)
	require.Len(t, plan.Reordering(), n)
}

func TestAReorderingThatDoesNotFitInMemoryIsRefused(t *testing.T) {
	sys := open(t, Config{Devices: "sim:2"})
	a := scrambledGrid(t, "stencil:dims=2,n=400")
	defer mem.SetAvailable(1000)()
	_, err := NewPlan[float64](ctx, sys, a, PlanOptions{Reorder: true})
	require.ErrorContains(t, err, "to order these takes")
	require.True(t, sparse.IsInput(err))
}
