package forms_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/blocks"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/ell"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/sparse"
)

// fixedForms are the forms that sum in the order of the entries.
var fixedForms = formtest.Names(func(k form.Kind[float64]) bool { return k.Fixed })

// asIs is form.MultiplyFixed as a form.
type asIs[V sparse.Value] struct {
	form.Form[V]
	level simd.Level
	rows  form.Rows[V]
}

func (a asIs[V]) Multiply(alpha, beta V, x, y []V) {
	csr.MultiplyFixed(a.level, a.rows, false, alpha, beta, x, y)
}

func TestFixedSumsHaveTheSameBitsInEveryForm(t *testing.T) {
	formtest.EachLevel(t, checkFixed[float64], checkFixed[float32])
}

func TestFixedSumsHaveTheSameBitsInEveryFormPastTheCaches(t *testing.T) {
	formtest.WithStreams(func() { formtest.EachLevel(t, checkFixed[float64], checkFixed[float32]) })
}

func checkFixed[V sparse.Value](t *testing.T, l simd.Level) {
	made := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p := formtest.Patterns[rapid.SampledFrom(formtest.SortedKeys(formtest.Patterns)).Draw(t, "pattern")](r)
		sorted := rapid.IntRange(0, 3).Draw(t, "unsorted") > 0
		if sorted {
			for _, row := range p.Rows {
				slices.Sort(row)
			}
		}
		values := formtest.ValueKinds[rapid.SampledFrom(formtest.SortedKeys(formtest.ValueKinds)).Draw(t, "values")]
		a := sparse.Convert[V](p.CSR(func() float64 { return values(r) }))
		x, y := make([]V, a.Cols), make([]V, a.Rows)
		for i := range x {
			x[i] = V(math.Ldexp(r.NormFloat64(), r.IntN(40)-20))
			if r.IntN(500) == 0 {
				x[i] = []V{V(math.NaN()), V(math.Inf(1)), V(math.Copysign(0, -1)), -1e-38}[r.IntN(4)]
			}
		}
		for i := range y {
			y[i] = V(r.NormFloat64())
		}
		scalars := rapid.SampledFrom([]V{1, -1, .75, -2.5, 1e-30})
		alpha := scalars.Draw(t, "alpha")
		beta := rapid.OneOf(rapid.SampledFrom([]V{0, V(math.Copysign(0, -1))}), scalars).Draw(t, "beta")
		want := reference.Fixed(alpha, a, x, beta, y)
		rows := formtest.RowsOf(a)
		rows.Fixed = true
		stored := formtest.AnyValues(t, rows.Val)
		for _, name := range fixedForms {
			m := formtest.DrawMade[V](t, name, l)
			f, err := m.Build(rows, stored)
			if name == "csr" {
				f = asIs[V]{f, l, rows}
			}
			if sparse.IsInput(err) {
				require.NotNil(t, m.Kind.Test.MayRefuse, "%s: %v", name, err)
				continue
			}
			require.NoError(t, err)
			made[name]++
			out := slices.Clone(y)
			f.Multiply(alpha, beta, x, out)
			for i := range out {
				if formtest.Bits(out[i]) != formtest.Bits(want[i]) {
					require.Failf(t, "other bits", "%s: y[%d] is %x, not %x", f.Name(), i, out[i], want[i])
				}
			}
		}
	})
	if testing.Short() {
		return // too few cases to draw every form
	}
	for _, name := range fixedForms {
		require.NotZero(t, made[name], name)
	}
}

func TestFormsThatSumInAnotherOrderRefuseFixedSums(t *testing.T) {
	r := form.Rows[float64]{Ptr: []int64{0, 3}, Idx: []int32{0, 9, 4}, Val: []float64{1, 2, 3}, Cols: 10, Fixed: true}
	_, err := tiles.NewTiles(r, tiles.TileOptions[float64]{Cols: 4})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "sorted rows")
	_, err = diagonals.NewDiagonals(r, diagonals.DiagonalOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	for _, k := range forms.Kinds[float64]() {
		if k.Fixed {
			continue
		}
		_, err = k.Make(r)
		require.True(t, sparse.IsInput(err), "%s: %v", k.Name, err)
		require.ErrorContains(t, err, "in an order of", k.Name)
		c, err := forms.Named[float64](k.Name, kernels.Segments{}, true)
		require.NoError(t, err)
		_, err = c.Build(r)
		require.True(t, sparse.IsInput(err), "%s: %v", k.Name, err)
		require.ErrorContains(t, err, string(k.Name)+`" sums in an order of its own: sums of a fixed shape have csr, `)
	}
	f := formtest.Must(ell.NewEll("sell", r))(t)
	require.Contains(t, f.Name(), "slices")

	n := kernels.FixedChunk + 1
	wide := form.Rows[float64]{Ptr: []int64{0, int64(n), int64(2 * n)}, Idx: make([]int32, 2*n), Val: make([]float64, 2*n), Cols: n + 1, Fixed: true}
	for k := range wide.Idx {
		wide.Idx[k] = int32(k%n + k/n)
	}
	_, err = diagonals.NewDiagonals(wide, diagonals.DiagonalOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "513 entries")
	_, err = blocks.NewBlocks(wide, blocks.BlockOptions[float64]{Shape: blocks.BlockShape{Height: 2, Width: 1}})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "513 entries")
}
