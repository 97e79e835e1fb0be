package form_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestStoreRowsGivesTheSameBitsAtEveryLevelAndOneNaN(t *testing.T) {
	t.Run("float64", checkFinish[float64])
	t.Run("float32", checkFinish[float32])
}

func checkFinish[V sparse.Value](t *testing.T) {
	bits := func(v V) uint64 { return math.Float64bits(float64(v)) }
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(0, 80).Draw(t, "n")
			sums, y := formtest.Vector[V](t, n), formtest.Vector[V](t, n)
			alpha, beta := V(formtest.Value(t)), V(rapid.SampledFrom(formtest.Factors).Draw(t, "beta"))
			want := make([]V, n)
			for i, s := range sums {
				if want[i] = alpha * s; beta != 0 {
					want[i] = reference.FMA(beta, y[i], want[i])
				}
			}
			form.StoreRows(l, alpha, beta, sums, y, rapid.Bool().Draw(t, "stream"))
			form.Fence(l)
			for i, v := range y {
				if v != v {
					v = V(math.Float64frombits(0x7FF8000000000000))
					if bits(v) != bits(y[i]) {
						t.Fatalf("element %d is another NaN", i)
					}
				}
				if v != want[i] && (v == v || want[i] == want[i]) || v == v && math.Signbit(float64(v)) != math.Signbit(float64(want[i])) {
					t.Fatalf("element %d is %x, not %x", i, v, want[i])
				}
			}
		})
	})
}
