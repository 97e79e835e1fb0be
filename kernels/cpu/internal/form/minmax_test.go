package form_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
)

func TestMinMaxFindsTheExtremesAtAnyPosition(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 60).Draw(t, "n")
			idx := make([]int32, n)
			for i := range idx {
				idx[i] = rapid.Int32().Draw(t, "index")
			}
			lo, hi := form.MinMax(l, idx)
			wantLo, wantHi := idx[0], idx[0]
			for _, i := range idx {
				wantLo, wantHi = min(wantLo, i), max(wantHi, i)
			}
			if lo != wantLo || hi != wantHi {
				t.Fatalf("%d and %d, not %d and %d", lo, hi, wantLo, wantHi)
			}
		})
	})
}
