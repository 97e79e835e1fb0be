package forms_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestFormsMultiplySeveralVectorsAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkMany[float64], checkMany[float32])
}

func checkMany[V sparse.Value](t *testing.T, l simd.Level) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(formtest.Names(formtest.Chosen)).Draw(t, "form")
		checkManyOf(t, formtest.DrawMade[V](t, name, l))
	})
}

// checkManyOf multiplies a random matrix in a form by several vectors; form and
// vectors lie between guards.
func checkManyOf[V sparse.Value](t *rapid.T, m formtest.Made[V]) {
	var g formtest.Guards
	defer g.Free(t)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	atEnd := rapid.Bool().Draw(t, "at the end")
	a, f := formtest.DrawForm(t, &g, r, m, formtest.SortedKeys(formtest.ValueKinds), 0, atEnd)
	if f == nil {
		return
	}
	many, ok := f.(form.Many[V])
	require.True(t, ok, "%s multiplies several vectors", f.Name())

	counts, gaps := []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 32, 33, 64}, []int{0, 1, 2, 3}
	if rapid.Bool().Draw(t, "few") { // side by side
		counts, gaps = []int{2, 3, 4, 5, 6, 7}, []int{0}
	}
	k := rapid.SampledFrom(counts).Draw(t, "vectors")
	alpha := rapid.SampledFrom([]V{1, .75, -2.5}).Draw(t, "alpha")
	beta := rapid.SampledFrom([]V{0, 1, -.5}).Draw(t, "beta")
	block := func(n int, name string) form.MultiVector[V] {
		stride := k + rapid.SampledFrom(gaps).Draw(t, name+" gap")
		b := form.MultiVector[V]{Val: make([]V, max(0, (n-1)*stride+k)), Cols: k, Stride: stride}
		if n == 0 {
			b.Val = nil
		}
		for i := range b.Val {
			b.Val[i] = V(r.NormFloat64())
		}
		return b
	}
	x, y := block(a.Cols, "x"), block(a.Rows, "y")
	if len(x.Val) > 0 && rapid.Bool().Draw(t, "special x") {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			x.Val[r.IntN(len(x.Val))] = V(v)
		}
	}
	column := func(b form.MultiVector[V], n, j int) []V {
		out := make([]V, n)
		for i := range out {
			out[i] = b.Val[i*b.Stride+j]
		}
		return out
	}
	var want []reference.Product
	for j := range k {
		want = append(want, reference.Multiply(false, alpha, a, column(x, a.Cols, j), beta, column(y, a.Rows, j)))
	}
	for i := range y.Val {
		if i%y.Stride >= k {
			y.Val[i] = 12345 // between the rows
		} else if beta == 0 {
			y.Val[i] = V(math.NaN())
		}
	}
	x.Val, y.Val = formtest.Guarded(t, &g, x.Val, atEnd), formtest.Guarded(t, &g, y.Val, atEnd)
	formtest.WithStrips(rapid.SampledFrom([]int{0, 1 << 10, 1 << 14, 1 << 20}).Draw(t, "strips"), func() {
		many.MultiplyMany(alpha, beta, x, y)
	})
	for j := range want {
		require.Equal(t, -1, reference.Check(column(y, a.Rows, j), want[j]), "%s: row of column %d", f.Name(), j)
	}
	for i, v := range y.Val {
		if i%y.Stride >= k {
			require.Equal(t, V(12345), v, "an element between the rows was written")
		}
	}
}
