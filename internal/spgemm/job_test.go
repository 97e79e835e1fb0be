package spgemm

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// orders are ways in which a Run may call workers.
var orders = map[string]Run{
	"at the same time": par.Do,
	"one after the other": func(n int, f func(i int)) {
		for i := range n {
			f(i)
		}
	},
	"backwards": func(n int, f func(i int)) {
		for i := n - 1; i >= 0; i-- {
			f(i)
		}
	},
	"one of them late": func(n int, f func(i int)) {
		par.Do(n, func(i int) {
			if i == 0 {
				time.Sleep(2 * time.Millisecond)
			}
			f(i)
		})
	},
	"one of them after the end": func(n int, f func(i int)) {
		par.Do(n-1, f)
		f(n - 1)
	},
}

// steps is a job that checks that each piece is done once, and after all pieces of the phases before.
type steps struct {
	*job
	count []int
	done  []atomic.Int64
	wrong atomic.Bool
	at    func(phase, piece int) // called in each piece; may be nil
}

func newSteps(ended func() error, count ...int) *steps {
	s := &steps{job: newJob(ended), count: count, done: make([]atomic.Int64, len(count))}
	for k, n := range count {
		seen := make([]atomic.Bool, n)
		s.each(func() int { return n }, func(_, i int) {
			if seen[i].Swap(true) || k > 0 && s.done[k-1].Load() != int64(count[k-1]) {
				s.wrong.Store(true)
			}
			if s.at != nil {
				s.at(k, i)
			}
			s.done[k].Add(1)
		})
	}
	return s
}

func (s *steps) all(t *testing.T) {
	require.False(t, s.wrong.Load(), "a piece was done twice or too early")
	for k, n := range s.count {
		require.EqualValues(t, n, s.done[k].Load())
	}
}

func never() error { return nil }

func TestEachPieceIsDoneOnceAfterThePhaseBefore(t *testing.T) {
	for name, run := range orders {
		for workers := 1; workers <= 8; workers++ {
			t.Run(fmt.Sprintf("%s/%d", name, workers), func(t *testing.T) {
				for range 20 {
					s := newSteps(never, 5, 1, 0, 40, 1, 3)
					run(workers, s.work)
					s.all(t)
				}
			})
		}
	}
}

// Workers that poll let the one that works run, and sleep if it works for long.
func TestWorkersShareOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := newSteps(never, 3, 1, 9)
	s.at = func(phase, piece int) {
		runtime.Gosched()
		if phase == 1 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	par.Do(6, s.work)
	s.all(t)
}

func TestAPanicInAnyPhaseEndsAllWorkers(t *testing.T) {
	for name, run := range orders {
		for phase := range 4 {
			for workers := 1; workers <= 8; workers++ {
				s := newSteps(never, 4, 1, 30, 2)
				s.at = func(k, i int) {
					if k == phase && i == s.count[k]-1 {
						panic("boom")
					}
				}
				func() {
					defer func() { require.Contains(t, fmt.Sprint(recover()), "boom", "%s, phase %d", name, phase) }()
					run(workers, s.work)
				}()
				for k := phase + 1; k < len(s.done); k++ {
					require.Zero(t, s.done[k].Load(), "%s: phase %d began after a panic in %d", name, k, phase)
				}
			}
		}
	}
}

func TestAJobEndsEarly(t *testing.T) {
	for name, run := range orders {
		for phase := range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			s := newSteps(ctx.Err, 4, 1, 30, 5)
			s.at = func(k, _ int) {
				if k == phase {
					cancel()
				}
			}
			run(4, s.work)
			require.False(t, s.wrong.Load())
			require.Zero(t, s.done[3].Load(), "%s, phase %d", name, phase)
		}
	}
}

func TestAWorkerThatSleepsIsWoken(t *testing.T) {
	for _, stops := range []bool{false, true} {
		s := newSteps(never, 1, 1)
		s.at = func(k, _ int) {
			if k == 0 {
				time.Sleep(20 * time.Millisecond)
				if stops {
					panic("boom")
				}
			}
		}
		var ended sync.WaitGroup
		for i := range 3 {
			ended.Go(func() {
				defer func() { require.Equal(t, stops && s.done[0].Load() == 0, s.stopped.Load()); _ = recover() }()
				s.work(i)
			})
		}
		ended.Wait()
	}
}

func TestProductsDoNotDependOnTheOrderOfTheWorkers(t *testing.T) {
	a := generated(t, "powerlaw:rows=3000,nnz=40000")
	want := plain(a, a)
	identity := &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Rows, RowPtr: make([]int64, a.Rows+1), ColIdx: make([]int32, a.Rows), Val: slices.Repeat([]float64{1}, a.Rows)}
	for i := range a.Rows {
		identity.RowPtr[i+1], identity.ColIdx[i] = int64(i+1), int32(i)
	}
	for name, run := range orders {
		for _, workers := range []int{1, 3, 8} {
			on := On{Run: run, Workers: workers}
			got, err := MultiplyOn(on, a, a)
			require.NoError(t, err, name)
			sameBits(t, want, got)
			got, err = compute(on, identity, a, a, true)
			require.NoError(t, err, name)
			sameBits(t, want, got)
			clear(got.Val)
			require.NoError(t, NumericOn(on, PatternOf(on, a, a, got), a, a, got.Val))
			sameBits(t, want, got)
		}
	}
}

// The rows of B have few entries on average, but those that A names have many.
func TestLongRowsAmongEmptyOnesHaveSeveralWorkers(t *testing.T) {
	const n = 1000
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1), ColIdx: make([]int32, n), Val: slices.Repeat([]float64{2}, n)}
	b := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: slices.Repeat([]int64{n}, n+1), ColIdx: make([]int32, n), Val: a.Val}
	b.RowPtr[0] = 0
	for i := range n {
		a.RowPtr[i+1], b.ColIdx[i] = int64(i+1), int32(i)
	}
	most := 0
	c, err := MultiplyOn(On{Workers: 4, Run: func(n int, f func(i int)) {
		most = max(most, n)
		par.Do(n, f)
	}}, a, b)
	require.NoError(t, err)
	sameBits(t, plain(a, b), c)
	require.Equal(t, 4, most)
}

// A context may end between any two of its checks.
func TestAProductEndsWithItsContext(t *testing.T) {
	a := generated(t, "powerlaw:rows=3000,nnz=40000")
	for checks := int64(0); ; checks++ {
		ctx := &endsAfter{Context: t.Context()}
		ctx.left.Store(checks)
		c, err := MultiplyOn(On{Context: ctx, Workers: 3}, a, a)
		if err == nil {
			require.NotNil(t, c)
			require.Greater(t, checks, int64(40))
			return
		}
		require.ErrorIs(t, err, context.Canceled)
	}
}

// endsAfter is a context that has ended after some calls of Err.
type endsAfter struct {
	context.Context
	left atomic.Int64
}

func (c *endsAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}
