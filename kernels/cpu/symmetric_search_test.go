package cpu

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/partition"
)

// calledBy reports whether a function of the package is being called.
func calledBy(name string) bool {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, name) {
			return true
		}
		if !more {
			return false
		}
	}
}

func TestATrialOfHalfOfAMatrixThatFailsAtAnyMomentHoldsNothing(t *testing.T) {
	if !diagonals.FastSymmetric(simd.Default()) {
		t.Skip("these instructions are no faster with half of the entries")
	}
	AlwaysHalve(t)
	SetBudget(t, time.Hour)
	const n = 20_000
	op := kernels.Packing[float64]{Ptr: []int64{0}, Minors: n}
	for r := range n {
		for _, away := range []int{-4101, -4100, -4099, -70, -69, -68, -1, 0, 1, 68, 69, 70, 4099, 4100, 4101} {
			if c := r + away; c >= 0 && c < n {
				op.Idx, op.Val = append(op.Idx, int32(c)), append(op.Val, math.Sin(float64(r*c)))
			}
		}
		op.Ptr = append(op.Ptr, int64(len(op.Idx)))
	}
	op.Part = partition.Part{EndIdx: int64(len(op.Idx)) - 1, EndMajor: n - 1, OwnEnd: n}
	for moment := 0; ; moment++ {
		d := open(t, Config{Threads: 2, Grain: 1, NUMANode: -1})
		looks := 0
		setNow(t, func() time.Time {
			if calledBy(".trySymmetric") {
				if looks++; looks > moment {
					d.pool.closed.Store(true)
				}
			}
			return time.Time{}.Add(time.Since(epoch))
		})
		p, err := d.Pack(&op)
		d.pool.closed.Store(false)
		if err == nil {
			require.Greater(t, moment, 4)
			require.NoError(t, p.Free())
			require.NoError(t, d.Close())
			return
		}
		require.ErrorIs(t, err, kernels.ErrClosed)
		require.NoError(t, d.Close(), "moment %d", moment)
	}
}
