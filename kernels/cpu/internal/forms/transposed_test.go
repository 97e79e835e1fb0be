package forms_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

func TestFormsMultiplyTheirTransposesAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkTransposed[float64], checkTransposed[float32])
}

func checkTransposed[V sparse.Value](t *testing.T, l simd.Level) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(append(formtest.Names(formtest.Chosen), "ellpack")).Draw(t, "form")
		if name == "ellpack" {
			name = string(rapid.SampledFrom(ellpack.Formats()).Draw(t, "format"))
		}
		m := formtest.DrawMade[V](t, name, l)
		if name == "tiles" && rapid.Bool().Draw(t, "small groups") {
			formtest.WithGroups(func() { checkTransposedOf(t, m) })
			return
		}
		checkTransposedOf(t, m)
	})
}

// transposedScale returns powers of 2 for values and for x such that alpha*x overflows (sign 1) or
// underflows (-1), while alpha*(val*x) does not.
func transposedScale[V sparse.Value](sign int) (ofVal, ofX int) {
	if mem.Size[V]() == 8 {
		return []int{1000, 0, -900}[sign+1], []int{-1060, 0, 1021}[sign+1]
	}
	return []int{110, 0, -90}[sign+1], []int{-140, 0, 125}[sign+1]
}

// checkTransposedOf multiplies the transpose of a random matrix in a form; the form and the vectors
// are between guards.
func checkTransposedOf[V sparse.Value](t *rapid.T, m formtest.Made[V]) {
	var g formtest.Guards
	defer g.Free(t)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	atEnd := rapid.Bool().Draw(t, "at the end")
	ofVal, ofX := transposedScale[V](rapid.SampledFrom([]int{0, 0, 1, -1}).Draw(t, "scale"))
	kinds := formtest.SortedKeys(formtest.ValueKinds)
	if ofX != 0 {
		kinds = []string{"any", "few", "one"}
	}
	a, f := formtest.DrawForm(t, &g, r, m, kinds, ofVal, atEnd)
	if f == nil {
		return
	}
	alpha := rapid.SampledFrom([]V{1, .75, -2.5}).Draw(t, "alpha")
	x, y := make([]V, a.Rows), make([]V, a.Cols)
	for i := range x {
		x[i] = V(math.Ldexp(r.NormFloat64(), ofX))
	}
	for i := range y {
		y[i] = V(math.Ldexp(r.NormFloat64(), ofVal+ofX))
	}
	if len(x) > 0 && rapid.Bool().Draw(t, "special x") {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			x[r.IntN(len(x))] = V(v)
		}
	}
	want := reference.Multiply(true, alpha, a, x, 1, y)
	x, y = formtest.Guarded(t, &g, x, atEnd), formtest.Guarded(t, &g, y, atEnd)

	// A place is part of y, or room for sums between elements that must not change.
	const canaries, canary = 40, 12345
	type place struct {
		at  int
		sum []V
	}
	var places []place // the last two
	apart := rapid.Bool().Draw(t, "places apart")
	leave := func(stay int) {
		for ; len(places) > stay; places = places[1:] {
			p := places[0]
			for i, v := range p.sum {
				if k := i - canaries; k >= 0 && k < len(p.sum)-2*canaries {
					y[p.at+k] += v
				} else {
					require.Equal(t, V(canary), v, "an element outside of the place was written")
				}
			}
		}
	}
	f.MultiplyTransposed(alpha, x, func(lo, hi int) []V {
		require.True(t, 0 <= lo && lo < hi && hi <= a.Cols, "a place for [%d, %d)", lo, hi)
		if !apart {
			return y[lo:hi]
		}
		leave(1)
		sum := slices.Repeat([]V{canary}, hi-lo+2*canaries)
		places = append(places, place{lo, sum})
		sum = sum[canaries : canaries+hi-lo]
		clear(sum)
		return sum
	})
	leave(0)
	require.Equal(t, -1, reference.Check(y, want), f.Name())
}
