package bench

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestThePaceIsMeasuredAloneAndTogether(t *testing.T) {
	for _, threads := range []int{1, 2, 20} {
		p := paceOf(threads)
		require.Positive(t, p.alone)
		require.Positive(t, p.together)
	}
	us := time.Microsecond
	require.Equal(t, "alone=108,110 together=186,109", paces(pace{108 * us, 186 * us}, pace{110 * us, 109*us + 999}))
}

func TestGoroutinesRunAtOnce(t *testing.T) {
	var begun atomic.Int64
	const n = 2
	took := atOnce(n, func() time.Duration {
		begun.Add(1)
		for late := time.Now().Add(10 * time.Second); begun.Load() < n; time.Sleep(time.Microsecond) {
			if time.Now().After(late) {
				return 0 // one ended before another started
			}
		}
		return time.Second
	})
	require.Equal(t, []time.Duration{time.Second, time.Second}, took)
}
