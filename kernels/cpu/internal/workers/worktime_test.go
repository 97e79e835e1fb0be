package workers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
)

func TestWorkersWaitForEachOtherBeforeTheyAreTimed(t *testing.T) {
	if threadTime == nil {
		t.Skip("this system does not tell CPU times")
	}
	p := New(2, DefaultGrain, nil, nil)
	var spun [2]time.Duration
	w, err := p.Timed(2, func(i int) {
		for first := threadTime(); spun[i] < time.Duration(i+1)*time.Millisecond; spun[i] = threadTime() - first {
		}
		if i == 1 {
			time.Sleep(5 * time.Millisecond)
		}
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, w.Took, 2*time.Millisecond)
	require.Less(t, w.Took, 5*time.Millisecond, "the worker slept for longer than that")
	require.GreaterOrEqual(t, w.Lost, 5*time.Millisecond-w.Took)
	require.Greater(t, w.Wanted, w.Lost)
	_, err = p.Timed(2, func(int) { panic("x") })
	require.ErrorContains(t, err, "panicked")
	p.Close()
	_, err = p.Timed(1, func(int) {})
	require.ErrorIs(t, err, kernels.ErrClosed)
}
