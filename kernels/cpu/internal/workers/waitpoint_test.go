package workers

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALateOpenDoesNotEndTheNextWait(t *testing.T) {
	for _, spin := range []time.Duration{0, SpinTime} {
		g := newWaitPoint()
		var made atomic.Bool
		through := make(chan bool)
		go func() {
			g.wait(made.Load, spin)
			through <- made.Load()
		}()
		for range 3 { // like a thread that was stopped between making the condition true and this call
			require.Eventually(t, func() bool { return g.asleep.Load() != awake }, 10*time.Second, 100*time.Microsecond)
			g.open()
		}
		made.Store(true)
		g.open()
		require.True(t, <-through)
	}
}
