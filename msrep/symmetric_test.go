package msrep

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// TestProductsAreRightAfterValuesLoseTheirSymmetry also multiplies several vectors, and a released matrix in a form
// that stores half of the entries.
func TestProductsAreRightAfterValuesLoseTheirSymmetry(t *testing.T) {
	for spec, whole := range map[string]Form{
		"stencil:dims=3,points=27,n=12,value=random":     "diagonals",
		"cfd:unknowns=3,n=8,points=27,value=ones,seed=1": "blocks",
	} {
		t.Run(string(whole), func(t *testing.T) { checkSymmetryLost(t, spec, whole) })
	}
}

func checkSymmetryLost(t *testing.T, spec string, whole Form) {
	a := generated(t, spec)
	half := "symmetric-" + whole
	sys := openCPU(t, "cpu:1")
	form := func(p *Plan[float64]) kernels.Form { return p.Packed(NoTrans)[0].Form }
	check := func(p *Plan[float64], a *sparse.CSR[float64]) {
		x, y := make([]float64, a.Cols), make([]float64, a.Rows)
		for i := range x {
			x[i], y[i] = float64(i%11)-5, float64(i%5)
		}
		for _, op := range []Transpose{NoTrans, Trans} {
			want, got := reference.Multiply(op == Trans, -1.5, sparse.Matrix[float64](a), x, .5, y), slices.Clone(y)
			multiply(t, p, op, -1.5, x, .5, got)
			require.Equal(t, -1, reference.Check(got, want))
		}
		want := reference.Multiply(false, 2, sparse.Matrix[float64](a), x, 0, y)
		twice := make([]float64, 2*a.Rows)
		err := p.SpMM(t.Context(), NoTrans, 2, MultiVector[float64]{Val: slices.Concat(x, x), Count: 2, Stride: a.Cols, ByColumn: true}, 0,
			MultiVector[float64]{Val: twice, Count: 2, Stride: a.Rows, ByColumn: true})
		require.NoError(t, err)
		require.Equal(t, -1, reference.Check(twice[:a.Rows], want))
		require.Equal(t, -1, reference.Check(twice[a.Rows:], want))
	}
	plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Form: half}, Expected: Expected{Vectors: 2}})
	require.Equal(t, whole, form(plan))
	require.NoError(t, plan.Close())
	plan = planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Form: half}})
	require.Equal(t, half, form(plan))
	check(plan, a)
	other := *a
	other.Val = slices.Clone(a.Val)
	for k := range other.Val {
		other.Val[k] *= 2
	}
	require.NoError(t, plan.UpdateValues(t.Context(), other.Val))
	require.Equal(t, half, form(plan))
	check(plan, &other)
	other.Val = slices.Clone(a.Val)
	other.Val[a.RowPtr[700]]++
	require.NoError(t, plan.UpdateValues(t.Context(), other.Val))
	require.Equal(t, whole, form(plan))
	check(plan, &other)
	require.NoError(t, plan.UpdateValues(t.Context(), a.Val))
	require.Equal(t, half, form(plan), "symmetric again")
	require.NoError(t, plan.Close())

	released := planOf[float64](t, sys, &other, PlanOptions{Storage: Storage{Form: half, Release: true}})
	bytes := released.Bytes()
	require.NoError(t, released.Close())
	released = planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Form: half, Release: true}})
	require.Less(t, float64(released.Bytes()), .7*float64(bytes))
	check(released, a)
	require.NoError(t, released.Close())
}

// The scattered entries have too many different diagonals for the form diagonals, but not for symmetric-diagonals.
func TestProductsAreRightAfterDiagonalsNoLongerSuit(t *testing.T) {
	const n = 5000
	random := rand.New(rand.NewPCG(1, 1))
	var entries sparse.Triples[float64]
	for i := range int32(n) {
		entries.Row, entries.Col, entries.Val = append(entries.Row, i), append(entries.Col, i), append(entries.Val, 1)
		if j := random.Int32N(n); i%4 == 0 {
			entries.Row, entries.Col, entries.Val = append(entries.Row, i, j), append(entries.Col, j, i), append(entries.Val, 2, 2)
		}
	}
	a := sparse.Assemble(n, n, sparse.General, []sparse.Triples[float64]{entries})
	sys := open(t, Config{Devices: "cpu:1", Threads: 1}) // diagonals do not suit half of the rows
	plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Form: "symmetric-diagonals"}})
	require.Equal(t, kernels.Form("symmetric-diagonals"), plan.Packed(NoTrans)[0].Form)
	val := slices.Clone(a.Val)
	for k := range val {
		val[k] += float64(k)
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i % 7)
	}
	for _, c := range []struct {
		val       []float64
		symmetric bool
	}{{val, false}, {val, false}, {a.Val, true}} {
		require.NoError(t, plan.UpdateValues(t.Context(), c.val))
		require.Equal(t, c.symmetric, plan.Packed(NoTrans)[0].Form == "symmetric-diagonals")
		multiply(t, plan, NoTrans, 1, x, 0, y)
		b := *a
		b.Val = c.val
		require.Equal(t, -1, reference.Check(y, reference.Multiply(false, 1, sparse.Matrix[float64](&b), x, 0, y)))
	}
}
