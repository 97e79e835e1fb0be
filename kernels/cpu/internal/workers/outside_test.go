package workers

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
)

// together calls f for all pieces at the same time, as a loop of OpenMP does.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func TestJobsRunOutside(t *testing.T) {
	var runs atomic.Int64
	p := NewOutside(4, DefaultGrain, func(n int, f func(i int)) {
		runs.Add(1)
		together(n, f)
	})
	for n := 1; n <= 4; n++ {
		var calls [4]atomic.Int64
		require.NoError(t, p.Run(n, func(i int) { calls[i].Add(1) }))
		for i := range calls {
			require.Equal(t, i < n, calls[i].Load() == 1)
		}
	}
	require.Equal(t, int64(3), runs.Load(), "one piece stays where it is")
	require.ErrorContains(t, p.Run(3, func(i int) {
		if i == 2 {
			panic("oh dear")
		}
	}), "oh dear")
	require.NoError(t, p.Run(3, func(int) {}))
	p.Close()
	require.ErrorIs(t, p.Run(2, func(int) {}), kernels.ErrClosed)
}

func TestFewerPiecesRunOutsideIfGOMAXPROCSFell(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var most int
	p := NewOutside(4, DefaultGrain, func(n int, f func(i int)) {
		most = max(most, n)
		together(n, f)
	})
	defer p.Close()
	runtime.GOMAXPROCS(2)
	p.countCPUs()
	var calls [4]atomic.Int64
	require.NoError(t, p.Run(4, func(i int) { calls[i].Add(1) }))
	require.Equal(t, 2, most)
	for i := range calls {
		require.Equal(t, int64(1), calls[i].Load())
	}
}

func TestAWrongRunIsAnError(t *testing.T) {
	for text, run := range map[string]func(n int, f func(i int)){
		"called f 1 times for n = 2": func(_ int, f func(i int)) { f(0) },
		"called f 3 times for n = 2": func(_ int, f func(i int)) { f(0); f(1); f(1) },
		"oh dear":                    func(int, func(i int)) { panic("oh dear") },
	} {
		p := NewOutside(2, DefaultGrain, run)
		require.ErrorContains(t, p.Run(2, func(int) {}), text)
		p.Close()
	}
}
