package msrep

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

func TestAReleasedMatrixIsNotUsedAgain(t *testing.T) {
	ctx := context.Background()
	forms := []kernels.Form{kernels.FormAuto}
	for _, f := range cpu.Forms() {
		if f != kernels.FormCSR { // with csr the plan still uses the matrix
			forms = append(forms, f)
		}
	}
	for i, f := range append(forms, forms...) {
		sys := openCPU(t, []string{"cpu:1", "cpu:3"}[i/len(forms)])
		a := wideMatrix(3000)
		if limitedForms[f] {
			a = blocksOf4(750)
		}
		x, y := make([]float64, 3000), make([]float64, 3000)
		for i := range x {
			x[i] = float64(i%7) - 3
		}
		for j := range y {
			y[j] = float64(j % 5)
		}
		plain, transposed := reference.Multiply(false, 2, a, x, -.5, y), reference.Multiply(true, 2, a, x, -.5, y)
		for _, expected := range []int{0, 10} { // products with Trans use the form, or the transposed matrix
			given := sparse.ToCSR[float64](sparse.ToCOO[float64](a))
			plan, err := NewPlan(ctx, sys, given, PlanOptions{Storage: Storage{Form: f, Release: true}, Expected: Expected{Transposed: expected}})
			if limitedForms[f] && sparse.IsInput(err) {
				continue
			}
			require.NoError(t, err, f)
			clear(given.Val)
			clear(given.ColIdx)
			clear(given.RowPtr)
			for op, want := range map[Transpose]reference.Product{NoTrans: plain, Trans: transposed} {
				got := slices.Clone(y)
				multiply(t, plan, op, 2, x, -.5, got)
				require.Equal(t, -1, reference.Check(got, want), f)
			}
			require.Equal(t, expected == 0, slices.EqualFunc(plan.Packed(NoTrans), plan.Packed(Trans), func(a, b kernels.PackInfo) bool { return a.Why == b.Why && a.Took == b.Took }))
			require.ErrorContains(t, plan.UpdateValues(ctx, a.Val), "was released")
			require.Equal(t, int64(len(a.Val)), plan.NNZ())
			require.NoError(t, plan.Close())
		}
	}
}

func TestADeterministicPlanRefusesTransposedProductsThatWereNotExpectedOnceReleased(t *testing.T) {
	ctx := context.Background()
	for expected, refused := range map[int]bool{0: true, 2: false} {
		plan := planOf(t, openCPU(t, "cpu:2"), small(t), PlanOptions{Storage: Storage{Form: "slices", Release: true}, Deterministic: true, Expected: Expected{Transposed: expected}})
		m, n := plan.Dims()
		x, y := make([]float64, n), make([]float64, m)
		err := plan.SpMV(ctx, Trans, 2, y, 0, x)
		if refused {
			require.ErrorIs(t, err, errReleased)
			require.True(t, sparse.IsInput(err))
		} else {
			require.NoError(t, err)
		}
		err = plan.SpMV(ctx, NoTrans, 2, x, 0, y)
		require.NoError(t, err, "the plan still works")
		require.NoError(t, plan.Close())
	}
}

func TestUpdateValuesOfAPlanWithOneDirectionReleasedChangesNothing(t *testing.T) {
	ctx := context.Background()
	a := &sparse.COO[float64]{Rows: 3, Cols: 3, RowIdx: []int32{0, 1, 2}, ColIdx: []int32{0, 1, 2}, Val: []float64{1, 2, 3}}
	plan := planOf(t, openCPU(t, "cpu:1"), a, PlanOptions{Storage: Storage{Release: true}, Expected: Expected{Products: 1, Transposed: 1}})
	require.ErrorContains(t, plan.UpdateValues(ctx, []float64{4, 5, 6}), "was released")
	y := make([]float64, 3)
	for _, op := range []Transpose{NoTrans, Trans} {
		err := plan.SpMV(ctx, op, 1, []float64{1, 1, 1}, 0, y)
		require.NoError(t, err, "the plan still works")
		require.Equal(t, []float64{1, 2, 3}, y)
	}
}

// blocksOf4 returns a matrix of n rows of 4 x 4 blocks, two blocks in each row.
func blocksOf4(n int) *sparse.CSR[float64] {
	coo := &sparse.COO[float64]{Rows: 4 * n, Cols: 4 * n}
	for b := range n {
		for _, c := range []int{b, (b + 7) % n} {
			for k := range 16 {
				coo.RowIdx, coo.ColIdx = append(coo.RowIdx, int32(4*b+k/4)), append(coo.ColIdx, int32(4*c+k%4))
				coo.Val = append(coo.Val, float64(b%13+k)-8.5)
			}
		}
	}
	return sparse.ToCSR[float64](coo)
}

func TestACancelledUpdateChangesBothDirectionsOrNone(t *testing.T) {
	sys := openCPU(t, "cpu:1")
	a := blocksOf4(20)
	x, y := make([]float64, 80), make([]float64, 80)
	for i := range x {
		x[i] = 1
	}
	for calls := range 12 { // calls of Err before the context ends
		plan := planOf(t, sys, a, PlanOptions{Expected: Expected{Transposed: 50}})
		val := make([]float64, len(a.Val))
		for i := range val {
			val[i] = 5
		}
		if err := plan.UpdateValues(newEndsAfter(calls), val); err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		var sums [2]float64
		for i, op := range []Transpose{NoTrans, Trans} {
			if err := plan.SpMV(context.Background(), op, 1, x, 0, y); err != nil {
				require.ErrorContains(t, err, "unusable", "otherwise all products fail")
				sums[i] = -1
				continue
			}
			sums[i] = total(y, func(v float64) float64 { return v })
		}
		require.InDelta(t, sums[0], sums[1], 1e-9)
		require.NoError(t, plan.Close())
	}
}
