package cpu

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAGateOpenedTooLateLetsNobodyThrough(t *testing.T) {
	for _, spin := range []time.Duration{0, spinTime} {
		g := newGate()
		var made atomic.Bool
		through := make(chan bool)
		go func() {
			g.wait(made.Load, spin)
			through <- made.Load()
		}()
		for range 3 { // as one does who was stopped between making it ready and this
			require.Eventually(t, func() bool { return g.asleep.Load() != awake }, 10*time.Second, 100*time.Microsecond)
			g.open()
		}
		made.Store(true)
		g.open()
		require.True(t, <-through)
	}
}
