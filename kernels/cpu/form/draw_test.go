package form_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// builder builds a form of rows, with values stored as the set says.
type builder[V sparse.Value] func(form.Rows[V], form.ValueSet[V]) (form.Form[V], error)

// must is f, unless there is an error, which fails the test: must(form.NewRuns(r, o))(t).
func must[F any](f F, err error) func(t require.TestingT) F {
	return func(t require.TestingT) F {
		require.NoError(t, err)
		return f
	}
}

// builders is what builds the forms that multiply several vectors at once; where a form
// does not suit the rows, an input error comes.
func builders[V sparse.Value](t *rapid.T, l simd.Level) map[string]builder[V] {
	return map[string]builder[V]{
		"csr": func(r form.Rows[V], _ form.ValueSet[V]) (form.Form[V], error) { return form.NewCSR(r), nil },
		"slices": func(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
			window := rapid.SampledFrom([]int{0, 1, 5, 64}).Draw(t, "window")
			return form.NewSlices(r, form.SliceOptions[V]{Level: l, Window: window, Values: v, Part: rapid.Bool().Draw(t, "part")})
		},
		"diagonals": func(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
			return form.NewDiagonals(r, form.DiagonalOptions[V]{Level: l, Values: v})
		},
		"blocks": func(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
			shape, ok := form.FindBlocks(r)
			if !ok {
				return nil, sparse.Inputf("blocks", "none")
			}
			return form.NewBlocks(r, form.BlockOptions[V]{Level: l, Shape: shape, Values: v})
		},
		"tiles": func(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
			o := form.TileOptions[V]{Level: l, Values: v}
			if rapid.Bool().Draw(t, "small tiles") {
				o.Rows, o.Cols = 17, 16
			}
			return form.NewTiles(r, o)
		},
		"panels": func(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
			o := form.PanelOptions[V]{Level: l, Values: v}
			if rapid.Bool().Draw(t, "small panels") {
				o.Rows, o.Cols = 17, 16
			}
			return form.NewPanels(r, o)
		},
		"bins": func(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
			o := form.BinOptions[V]{Level: l, Values: v}
			if rapid.Bool().Draw(t, "small bins") {
				o.Rows, o.Cols, o.Group = 17, 16, rapid.SampledFrom([]int{100, 1000}).Draw(t, "group")
			}
			return form.NewBins(r, o)
		},
		"near-far": func(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
			o := form.NearFarOptions[V]{Level: l, Values: v}
			if rapid.Bool().Draw(t, "small blocks") {
				o.Window, o.Lone, o.Cols, o.Group = 100, 1, 16, rapid.SampledFrom([]int{1, 100, 1000}).Draw(t, "group")
			}
			return form.NewNearFar(r, o)
		},
		"runs": func(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
			return form.NewRuns(r, form.RunOptions[V]{Level: l, Values: v})
		},
	}
}

// drawForm draws a matrix that suits the form of this name as a rule, with values of one of
// these kinds times 2^scale, and builds the form, in memory between guards. The form is nil
// where it refuses the matrix.
func drawForm[V sparse.Value](t *rapid.T, g *guards, r *rand.Rand, name string, kinds []string, scale int, atEnd bool, build builder[V]) (*sparse.CSR[V], form.Form[V]) {
	pattern := rapid.SampledFrom(sortedKeys(patterns)).Draw(t, "pattern")
	if name == "diagonals" || name == "blocks" {
		suited := map[string]string{"diagonals": "stencil", "blocks": "blocks"}[name]
		pattern = rapid.SampledFrom([]string{name, name, suited, "any", "empty", "one row"}).Draw(t, "suited pattern")
	}
	values := valueKinds[rapid.SampledFrom(kinds).Draw(t, "values")]
	a := sparse.Convert[V](patterns[pattern](r).csr(func() float64 { return math.Ldexp(values(r), scale) }))
	rows := form.Rows[V]{Ptr: slices.Clone(a.RowPtr), Idx: a.ColIdx, Val: a.Val, Cols: a.Cols,
		Mem: &form.Memory{Alloc: func(n int64) ([]byte, error) { return g.bytes(n, 64, atEnd) }}}
	f, err := build(rows, someValues(t, a.Val))
	if sparse.IsInput(err) {
		return a, nil
	}
	require.NoError(t, err)
	return a, f
}

// someValues is values as they are or as they are found.
func someValues[V sparse.Value](t *rapid.T, val []V) form.ValueSet[V] {
	if rapid.Bool().Draw(t, "find values") {
		return form.FindValues(val)
	}
	return form.ValueSet[V]{}
}
