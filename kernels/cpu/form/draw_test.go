package form_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// must returns f, and fails the test if there is an error: must(form.NewRuns(r, o))(t).
func must[F any](f F, err error) func(t require.TestingT) F {
	return func(t require.TestingT) F {
		require.NoError(t, err)
		return f
	}
}

// made describes a form: its name and its options.
type made[V sparse.Value] struct {
	name                            string
	level                           simd.Level
	window, rows, cols, group, lone int // 0 fits them to the caches
	part                            bool
}

// formNames is all forms but those of the ELLPACK family.
var formNames = []string{"csr", "slices", "diagonals", "blocks", "tiles", "panels", "bins", "near-far", "runs"}

// small returns a form with small pieces, if it has pieces.
func small[V sparse.Value](name string, l simd.Level) made[V] {
	return made[V]{name: name, level: l, rows: 50, cols: 32, group: 500, lone: 1}
}

// drawMade draws the options of a form.
func drawMade[V sparse.Value](t *rapid.T, name string, l simd.Level) made[V] {
	m := made[V]{name: name, level: l}
	switch name {
	case "slices":
		m.window, m.part = rapid.SampledFrom([]int{0, 1, 5, 64}).Draw(t, "window"), rapid.Bool().Draw(t, "part")
	case "tiles", "panels", "bins":
		most := 65536
		if name == "bins" {
			most = 65535
		}
		m.rows = rapid.SampledFrom([]int{0, 1, 3, 16, 17, 100, most}).Draw(t, "rows")
		m.cols = rapid.SampledFrom([]int{0, 1, 8, 16, 64, 1024, 65536}).Draw(t, "columns")
	case "near-far":
		m.rows = rapid.SampledFrom([]int{0, 1, 10, 100, 1000}).Draw(t, "rows")
		m.cols = rapid.SampledFrom([]int{0, 1, 8, 16, 64}).Draw(t, "columns")
		m.lone = rapid.SampledFrom([]int{0, 1, 2, 254}).Draw(t, "lone")
	}
	if name == "bins" || name == "near-far" {
		m.group = rapid.SampledFrom([]int{0, 1, 100, 1000}).Draw(t, "group")
	}
	return m
}

// build builds the form of the rows, with the storage of the set. It returns an input error if the
// form does not suit the rows.
func (m made[V]) build(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
	switch m.name {
	case "csr":
		return form.NewCSR(r), nil
	case "slices":
		return form.NewSlices(r, form.SliceOptions[V]{Level: m.level, Window: m.window, Values: v, Part: m.part})
	case "diagonals":
		return form.NewDiagonals(r, form.DiagonalOptions[V]{Level: m.level, Values: v})
	case "blocks":
		shape, ok := form.FindBlocks(r)
		if !ok {
			return nil, sparse.Inputf("blocks", "none")
		}
		return form.NewBlocks(r, form.BlockOptions[V]{Level: m.level, Shape: shape, Values: v})
	case "tiles":
		return form.NewTiles(r, form.TileOptions[V]{Level: m.level, Rows: m.rows, Cols: m.cols, Values: v})
	case "panels":
		return form.NewPanels(r, form.PanelOptions[V]{Level: m.level, Rows: m.rows, Cols: m.cols, Values: v})
	case "bins":
		return form.NewBins(r, form.BinOptions[V]{Level: m.level, Rows: m.rows, Cols: m.cols, Group: m.group, Values: v})
	case "near-far":
		if r.Cols > 1<<17 && m.cols > 0 { // each block of rows counts the entries of each of columns
			m.cols = 64
		}
		return form.NewNearFar(r, form.NearFarOptions[V]{Level: m.level, Window: m.rows, Lone: m.lone, Cols: m.cols, Group: m.group, Values: v})
	case "runs":
		return form.NewRuns(r, form.RunOptions[V]{Level: m.level, Values: v})
	}
	return form.NewEll(kernels.Form(m.name), r)
}

// mayRefuse reports whether the form may refuse these rows.
func (m made[V]) mayRefuse(r form.Rows[V]) bool {
	places := max(1, len(r.Ptr)-1) * r.Cols
	switch m.name {
	case "csr", "slices", "near-far", "runs":
		return false
	case "tiles": // nearly all would be empty
		return m.cols > 0 && places > 1<<16
	case "bins": // nearly all runs would be empty
		return places > 1<<16
	case "panels": // most rows would have nothing in most panels, or most lanes of slices
		return max(places, 16*len(r.Idx)) > 1<<16
	}
	return true
}

// drawForm draws a matrix that usually suits the form, with values of one of these kinds times
// 2^scale, and builds the form in memory between guards. The form is nil if it refuses the matrix.
func drawForm[V sparse.Value](t *rapid.T, g *guards, r *rand.Rand, m made[V], kinds []string, scale int, atEnd bool) (*sparse.CSR[V], form.Form[V]) {
	pattern := rapid.SampledFrom(sortedKeys(patterns)).Draw(t, "pattern")
	if name := m.name; name == "diagonals" || name == "blocks" {
		suited := map[string]string{"diagonals": "stencil", "blocks": "blocks"}[name]
		pattern = rapid.SampledFrom([]string{name, name, suited, "any", "empty", "one row"}).Draw(t, "suited pattern")
	}
	values := valueKinds[rapid.SampledFrom(kinds).Draw(t, "values")]
	a := sparse.Convert[V](patterns[pattern](r).csr(func() float64 { return math.Ldexp(values(r), scale) }))
	rows := rowsOf(a)
	rows.Ptr = slices.Clone(rows.Ptr)
	return a, m.between(t, g, rows, atEnd)
}

// between builds the form in memory between guards. It returns nil if the form refuses the rows.
func (m made[V]) between(t *rapid.T, g *guards, rows form.Rows[V], atEnd bool) form.Form[V] {
	rows.Mem = &form.Memory{Alloc: func(n int64) ([]byte, error) { return g.bytes(n, 64, atEnd) }}
	f, err := m.build(rows, anyValues(t, rows.Val))
	if sparse.IsInput(err) && m.mayRefuse(rows) {
		return nil
	}
	require.NoError(t, err)
	require.NotEmpty(t, f.Name())
	require.GreaterOrEqual(t, f.Padding(), int64(0))
	require.GreaterOrEqual(t, f.Bytes(), rows.Mem.Used())
	return f
}
