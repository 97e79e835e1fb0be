package workers

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

func TestRunOutsideRefusesWrongNumbersAndLateCalls(t *testing.T) {
	const n = 3
	var late []func()
	for name, run := range map[string]func(n int, f func(i int)){
		"none":          func(int, func(int)) {},
		"one too few":   func(n int, f func(int)) { each(n-1, f) },
		"each twice":    func(n int, f func(int)) { each(n, f); each(n, f) },
		"first only":    func(n int, f func(int)) { each(n, func(int) { f(0) }) },
		"one too large": func(n int, f func(int)) { each(n, func(i int) { f(i + 1) }) },
		"negative":      func(n int, f func(int)) { each(n, func(i int) { f(-i) }) },
		"late":          func(n int, f func(int)) { late = append(late, func() { each(n, f) }) },
	} {
		var parts [n]int
		p := NewOutside(n, 1, run)
		err := p.runOutside(n, func(i int) { parts[i]++ })
		require.ErrorIs(t, err, kernels.ErrArgument, name)
		require.ErrorContains(t, err, "it must call f once with each number from 0 to n-1", name)
		for _, f := range late {
			f()
		}
		for _, times := range parts {
			require.LessOrEqual(t, times, 1, name)
		}
		if name == "late" {
			require.Zero(t, parts)
		}
	}
}

func TestRunOutsideWaitsForCallsAfterAnEarlyReturn(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	p := NewOutside(2, 1, func(_ int, f func(int)) {
		f(0)
		go f(1)
		<-begun
		close(end)
	})
	done := false
	_ = p.runOutside(2, func(i int) { // an error unless f(1) is done when run returns
		if i == 1 {
			close(begun)
			<-end
			time.Sleep(20 * time.Millisecond)
			done = true
		}
	})
	require.True(t, done)
}

func each(n int, f func(int)) {
	for i := range n {
		f(i)
	}
}
