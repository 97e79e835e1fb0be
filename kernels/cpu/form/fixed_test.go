package form_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// fixedForms are the forms that sum in the order of the entries.
var fixedForms = []string{"slices", "tiles", "bins", "near-far", "panels", "diagonals", "blocks", "csr"}

// asIs is form.MultiplyFixed as a form.
type asIs[V sparse.Value] struct {
	form.Form[V]
	level simd.Level
	rows  form.Rows[V]
}

func (a asIs[V]) Multiply(alpha, beta V, x, y []V) {
	form.MultiplyFixed(a.level, a.rows, false, alpha, beta, x, y)
}

func TestFixedSumsHaveTheSameBitsInEveryForm(t *testing.T) {
	eachLevel(t, checkFixed[float64], checkFixed[float32])
}

func TestFixedSumsHaveTheSameBitsInEveryFormPastTheCaches(t *testing.T) {
	form.WithStreams(func() { eachLevel(t, checkFixed[float64], checkFixed[float32]) })
}

func checkFixed[V sparse.Value](t *testing.T, l simd.Level) {
	made := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p := patterns[rapid.SampledFrom(sortedKeys(patterns)).Draw(t, "pattern")](r)
		sorted := rapid.IntRange(0, 3).Draw(t, "unsorted") > 0
		if sorted {
			for _, row := range p.rows {
				slices.Sort(row)
			}
		}
		values := valueKinds[rapid.SampledFrom(sortedKeys(valueKinds)).Draw(t, "values")]
		a := sparse.Convert[V](p.csr(func() float64 { return values(r) }))
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
		rows := rowsOf(a)
		rows.Fixed = true
		stored := anyValues(t, rows.Val)
		for _, name := range fixedForms {
			m := drawMade[V](t, name, l)
			m.part = false
			f, err := m.build(rows, stored)
			if name == "csr" {
				f = asIs[V]{f, l, rows}
			}
			if sparse.IsInput(err) {
				require.True(t, name != "slices" && name != "near-far" && name != "csr", "%s: %v", name, err)
				continue
			}
			require.NoError(t, err)
			made[name]++
			out := slices.Clone(y)
			f.Multiply(alpha, beta, x, out)
			for i := range out {
				if bits(out[i]) != bits(want[i]) {
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

func bits[V sparse.Value](v V) any {
	if v, ok := any(v).(float32); ok {
		return math.Float32bits(v)
	}
	return math.Float64bits(float64(v))
}

func TestFormsThatSumInAnotherOrderRefuseFixedSums(t *testing.T) {
	r := form.Rows[float64]{Ptr: []int64{0, 3}, Idx: []int32{0, 9, 4}, Val: []float64{1, 2, 3}, Cols: 10, Fixed: true}
	_, err := form.NewTiles(r, form.TileOptions[float64]{Cols: 4})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "sorted rows")
	_, err = form.NewBins(r, form.BinOptions[float64]{Cols: 4})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "sorted rows")
	_, err = form.NewDiagonals(r, form.DiagonalOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	for _, name := range []kernels.Form{"ell", "ellr", "pellr", "jad", "hyb", "biell"} {
		_, err = form.NewEll(name, r)
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, "order of its own")
	}
	f := must(form.NewEll("sell", r))(t)
	require.Contains(t, f.Name(), "slices")

	n := kernels.FixedChunk + 1
	wide := form.Rows[float64]{Ptr: []int64{0, int64(n), int64(2 * n)}, Idx: make([]int32, 2*n), Val: make([]float64, 2*n), Cols: n + 1, Fixed: true}
	for k := range wide.Idx {
		wide.Idx[k] = int32(k%n + k/n)
	}
	_, err = form.NewDiagonals(wide, form.DiagonalOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "513 entries")
	_, err = form.NewBlocks(wide, form.BlockOptions[float64]{Shape: form.BlockShape{Height: 2, Width: 1}})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "513 entries")
}
