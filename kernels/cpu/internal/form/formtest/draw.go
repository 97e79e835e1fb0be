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
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/sparse"
)

// Must returns f, and fails the test if there is an error: must(form.NewRuns(r, o))(t).
func Must[F any](f F, err error) func(t require.TestingT) F {
	return func(t require.TestingT) F {
		require.NoError(t, err)
		return f
	}
}

// Made is a form with its options.
type Made[V sparse.Value] struct {
	Kind    form.Kind[V]
	options form.Options[V]
	Far     bool // kernels prefetch; see BuildFar
}

// Names returns the names of the forms that pick accepts.
func Names(pick func(k form.Kind[float64]) bool) (out []string) {
	for _, k := range forms.Kinds[float64]() {
		if pick(k) {
			out = append(out, string(k.Name))
		}
	}
	return out
}

// Chosen accepts the forms that a device chooses from.
func Chosen(k form.Kind[float64]) bool { return slices.Contains(forms.Choices(), k.Name) }

// kindOf returns the form of that name.
func kindOf[V sparse.Value](name string) form.Kind[V] {
	all := forms.Kinds[V]()
	return all[slices.IndexFunc(all, func(k form.Kind[V]) bool { return string(k.Name) == name })]
}

// Small returns a form with small pieces, if it has pieces.
func Small[V sparse.Value](name string, l simd.Level) Made[V] {
	k := kindOf[V](name)
	return Made[V]{Kind: k, options: form.Options[V]{Level: l, Sizes: k.Test.Small}}
}

// DrawMade draws the options of a form.
func DrawMade[V sparse.Value](t *rapid.T, name string, l simd.Level) Made[V] {
	m := Made[V]{Kind: kindOf[V](name), options: form.Options[V]{Level: l, Sizes: form.Sizes{}}, Far: rapid.Bool().Draw(t, "far")}
	for _, size := range SortedKeys(m.Kind.Test.Sizes) {
		m.options.Sizes[size] = rapid.SampledFrom(m.Kind.Test.Sizes[size]).Draw(t, size)
	}
	return m
}

// Build builds the form of the rows, with the storage of the set. It returns an input error if the
// form does not suit the rows.
func (m Made[V]) Build(r form.Rows[V], v form.ValueSet[V]) (form.Form[V], error) {
	o := m.options
	o.Values = v
	return BuildFar(m.Far, func() (form.Form[V], error) { return m.Kind.New(r, o) })
}

// mayRefuse reports whether the form may refuse these rows.
func (m Made[V]) mayRefuse(r form.Rows[V]) bool {
	refuses := m.Kind.Test.MayRefuse
	return refuses != nil && refuses(r, m.options.Sizes)
}

// DrawForm draws a matrix that usually suits the form, with values of one of these kinds times
// 2^scale, and builds the form in memory between guards. The form is nil if it refuses the matrix.
func DrawForm[V sparse.Value](t *rapid.T, g *Guards, r *rand.Rand, m Made[V], kinds []string, scale int, atEnd bool) (*sparse.CSR[V], form.Form[V]) {
	patterns := SortedKeys(Patterns)
	if suited := m.Kind.Test.Patterns; len(suited) > 0 {
		patterns = append(slices.Repeat(suited, 3), "any", "empty", "one row")
	}
	pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
	values := ValueKinds[rapid.SampledFrom(kinds).Draw(t, "values")]
	a := sparse.Convert[V](Patterns[pattern](r).CSR(func() float64 { return math.Ldexp(values(r), scale) }))
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
