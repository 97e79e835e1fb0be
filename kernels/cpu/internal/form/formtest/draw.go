package formtest

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
	slicesform "github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

// Must returns f, and fails the test if there is an error: Must(tiles.NewTiles(r, o))(t).
func Must[F any](f F, err error) func(t require.TestingT) F {
	return func(t require.TestingT) F {
		require.NoError(t, err)
		return f
	}
}

// Made describes a form: its name and its options.
type Made[V sparse.Value] struct {
	name               string
	level              simd.Level
	window, rows, cols int  // 0 fits them to the caches
	Far                bool // slices prefetch
}

// FormNames is all forms but those of the ELLPACK family.
var FormNames = []string{"csr", "slices", "diagonals", "blocks", "tiles"}

// Small returns a form with small pieces, if it has pieces.
func Small[V sparse.Value](name string, l simd.Level) Made[V] {
	return Made[V]{name: name, level: l, rows: 50, cols: 32}
}

// DrawMade draws the options of a form.
func DrawMade[V sparse.Value](t *rapid.T, name string, l simd.Level) Made[V] {
	m := Made[V]{name: name, level: l}
	switch name {
	case "slices":
		m.window, m.Far = rapid.SampledFrom([]int{0, 1, 5, 64}).Draw(t, "window"), rapid.Bool().Draw(t, "far")
	case "tiles":
		m.rows = rapid.SampledFrom([]int{0, 1, 3, 16, 17, 100, 65536}).Draw(t, "rows")
		m.cols = rapid.SampledFrom([]int{0, 1, 8, 16, 64, 1024, 65536}).Draw(t, "columns")
	}
	return m
}

// Build builds the form of the rows, with the storage of the set. It returns an input error if the
// form does not suit the rows.
func (m Made[V]) Build(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
	switch m.name {
	case "csr":
		return csr.NewCSR(r), nil
	case "slices":
		return BuildFar(m.Far, func() (form.Form[V], error) {
			return slicesform.NewSlices(r, slicesform.SliceOptions[V]{Level: m.level, Window: m.window, Values: v})
		})
	case "diagonals":
		return diagonals.NewDiagonals(r, diagonals.DiagonalOptions[V]{Level: m.level, Values: v})
	case "blocks":
		shape, ok := blocks.FindBlocks(r)
		if !ok {
			return nil, sparse.Inputf("blocks", "none")
		}
		return blocks.NewBlocks(r, blocks.BlockOptions[V]{Level: m.level, Shape: shape, Values: v})
	case "tiles":
		return tiles.NewTiles(r, tiles.TileOptions[V]{Level: m.level, Rows: m.rows, Cols: m.cols, Values: v})
	}
	return ell.NewEll(kernels.Form(m.name), r)
}

// mayRefuse reports whether the form may refuse these rows.
func (m Made[V]) mayRefuse(r form.Rows[V]) bool {
	places := max(1, len(r.Ptr)-1) * r.Cols
	switch m.name {
	case "csr", "slices":
		return false
	case "tiles": // nearly all would be empty
		return m.cols > 0 && places > 1<<16
	}
	return true
}

// DrawForm draws a matrix that usually suits the form, with values of one of these kinds times
// 2^scale, and builds the form in memory between guards. The form is nil if it refuses the matrix.
func DrawForm[V sparse.Value](t *rapid.T, g *Guards, r *rand.Rand, m Made[V], kinds []string, scale int, atEnd bool) (*sparse.CSR[V], form.Form[V]) {
	pattern := rapid.SampledFrom(SortedKeys(Patterns)).Draw(t, "pattern")
	if name := m.name; name == "diagonals" || name == "blocks" {
		suited := map[string]string{"diagonals": "stencil", "blocks": "blocks"}[name]
		pattern = rapid.SampledFrom([]string{name, name, suited, "any", "empty", "one row"}).Draw(t, "suited pattern")
	}
	values := ValueKinds[rapid.SampledFrom(kinds).Draw(t, "values")]
	a := sparse.Convert[V](Patterns[pattern](r).Csr(func() float64 { return math.Ldexp(values(r), scale) }))
	rows := RowsOf(a)
	rows.Ptr = slices.Clone(rows.Ptr)
	return a, m.between(t, g, rows, atEnd)
}

// between builds the form in memory between guards. It returns nil if the form refuses the rows.
func (m Made[V]) between(t *rapid.T, g *Guards, rows form.Rows[V], atEnd bool) form.Form[V] {
	rows.Mem = &form.Memory{Alloc: func(n int64) ([]byte, error) { return g.Bytes(n, 64, atEnd) }}
	f, err := m.Build(rows, AnyValues(t, rows.Val))
	if sparse.IsInput(err) && m.mayRefuse(rows) {
		return nil
	}
	require.NoError(t, err)
	require.NotEmpty(t, f.Name())
	require.GreaterOrEqual(t, f.Padding(), int64(0))
	require.GreaterOrEqual(t, f.Bytes(), rows.Mem.Used())
	return f
}

// CheckLarge multiplies by a form of 70,000 rows with least to least+7 entries each, anywhere in an
// x larger than the first-level cache, and one row with 20,000. It returns the form and the number
// of its entries.
func CheckLarge[V sparse.Value](t *testing.T, least int, build func(form.Rows[V]) (form.Form[V], error)) (form.Form[V], int64) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows, cols = 70_000, 9000
	a := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for i := range rows {
		n := least + r.IntN(8)
		if i == 40_000 {
			n = 20_000
		}
		for range n {
			a.ColIdx = append(a.ColIdx, r.Int32N(cols))
			a.Val = append(a.Val, V(r.NormFloat64()))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	x, y := make([]V, cols), make([]V, rows)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	for i := range y {
		y[i] = V(r.NormFloat64())
	}
	want := reference.Multiply(false, -1.25, sparse.Matrix[V](a), x, .5, y)
	f := Must(build(RowsOf(a)))(t)
	f.Multiply(-1.25, .5, x, y)
	require.Equal(t, -1, reference.Check(y, want), f.Name())
	return f, a.NNZ()
}
