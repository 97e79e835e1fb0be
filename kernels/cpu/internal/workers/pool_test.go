package workers

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

func TestWorkersThatHaveNothingToDoSleep(t *testing.T) {
	p := New(2, DefaultGrain, nil, nil)
	defer p.Close()
	require.NoError(t, p.Run(2, func(int) {}))
	require.Eventually(t, func() bool { return p.workers[0].wait.asleep.Load() != awake }, 10*time.Second, time.Millisecond)
	var calls atomic.Int32
	require.NoError(t, p.Run(2, func(int) { calls.Add(1) }))
	require.Equal(t, int32(2), calls.Load(), "and wake")
}

func TestManyShortJobsLoseNoWakeUp(t *testing.T) {
	p := New(2, DefaultGrain, nil, nil)
	defer p.Close()
	jobs := 20_000
	if testing.Short() {
		jobs = 2_000
	}
	const others = 1 << 20 // threads of other pools, which leave no CPU to spin on
	var calls [2]int
	for i := range jobs {
		if i%1000 == 0 {
			time.Sleep(2 * SpinTime) // both workers sleep then
		}
		if i%3 == 0 {
			threadsBusy.Add(others)
		}
		require.NoError(t, p.Run(1+i%2, func(w int) { calls[w]++ }))
		if i%3 == 0 {
			threadsBusy.Add(-others)
		}
	}
	require.Equal(t, [2]int{jobs, jobs / 2}, calls)
}

func TestWorkersDoNotSpinWithoutACPUForEach(t *testing.T) {
	few := New(1, DefaultGrain, nil, nil)
	require.True(t, few.spin(SpinTime) > 0 || threadsBusy.Load() > int64(runtime.NumCPU()))
	many := New(runtime.NumCPU(), DefaultGrain, nil, nil)
	require.Zero(t, few.spin(SpinTime), "other pools count")
	require.Zero(t, many.spin(SpinTime))
	many.Close()
	few.Close()
	busy := New(runtime.GOMAXPROCS(0)+1, DefaultGrain, nil, nil)
	require.Zero(t, busy.spin(SpinTime))
	busy.Close()
	one := New(2, DefaultGrain, []int{0}, func(error) {})
	require.Zero(t, one.spin(SpinTime), "both are on one CPU")
	one.Close()
}

func TestWorkersFollowGOMAXPROCS(t *testing.T) {
	const size = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(size))
	before := threadsBusy.Load()
	p, half := New(size, DefaultGrain, nil, nil), New(size/2, DefaultGrain, nil, nil)
	placed := New(2, DefaultGrain, []int{0}, func(error) {})
	var pools int64 = size + size/2 + 3
	require.Equal(t, before+pools, threadsBusy.Load())
	jobs := func(p *Pool, n int) (most int64) {
		var at, peak atomic.Int64
		for k := range 2 * countEvery {
			var calls [size]atomic.Int32
			err := p.Run(n, func(i int) {
				defer at.Add(-1)
				for v := at.Add(1); ; {
					if m := peak.Load(); m >= v || peak.CompareAndSwap(m, v) {
						break
					}
				}
				calls[i].Add(1)
				if i == n-1 && k%2 == 1 {
					panic("oh dear")
				}
			})
			if k == countEvery {
				peak.Store(0)
			}
			require.Equal(t, k%2 == 1, err != nil, "%v", err)
			for i := range calls {
				require.Equal(t, i < n, calls[i].Load() == 1, "job %d, piece %d", k, i)
			}
		}
		return peak.Load()
	}
	for _, c := range []struct{ procs, share, half int64 }{{4, 4, 2}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 4, 2}, {9, 4, 2}} {
		runtime.GOMAXPROCS(int(c.procs))
		for n := 1; n <= size; n++ {
			require.LessOrEqual(t, jobs(p, n), c.share)
		}
		jobs(half, 2)
		jobs(placed, 2)
		require.Equal(t, c.share, p.active.Load(), "GOMAXPROCS %d", c.procs)
		require.Equal(t, c.half, half.active.Load(), "GOMAXPROCS %d: both pools together", c.procs)
		require.Equal(t, int64(2), placed.active.Load(), "they have CPUs of their own")
		require.Equal(t, min(c.procs, int64(runtime.NumCPU())), p.cpus.Load())
		require.Equal(t, before+c.share+c.half+3, threadsBusy.Load())
	}
	for _, p := range []*Pool{p, half, placed} {
		p.Close()
	}
	require.Equal(t, before, threadsBusy.Load())
}

func TestAShortJobWakesNobodyUntilSuchJobsFollowEachOther(t *testing.T) {
	p := New(2, DefaultGrain, nil, nil)
	defer p.Close()
	sleeps := func() bool { return p.workers[0].wait.asleep.Load() != awake }
	require.False(t, p.wakesNobody([]*worker{{wait: newWaitPoint()}}), "a worker that looks for a job is not woken")
	for range 3 { // also after they were woken
		require.Eventually(t, sleeps, 10*time.Second, time.Millisecond)
		var calls [2]int
		given := p.given
		err := p.runJob(2, func(i int) {
			calls[i]++
			if i == 1 {
				panic("oh dear")
			}
		}, true)
		require.ErrorContains(t, err, "oh dear")
		require.Equal(t, [2]int{1, 1}, calls)
		require.Equal(t, given, p.given)
		require.True(t, sleeps())
		for range 10_000 {
			if p.given != given || p.spin(1) == 0 {
				break
			}
			require.NoError(t, p.runJob(2, func(int) {
				for begin := time.Now(); time.Since(begin) < SpinTime/4; {
				}
			}, true))
		}
		require.True(t, p.given != given || p.spin(1) == 0)
	}
	threadsBusy.Add(1 << 20) // threads of other pools, which leave no CPU to spin on
	defer threadsBusy.Add(-1 << 20)
	require.NoError(t, p.Run(2, func(int) {}))
	require.Eventually(t, sleeps, 10*time.Second, time.Millisecond)
	given := p.given
	for range 1000 {
		require.NoError(t, p.runJob(2, func(int) {}, true))
	}
	require.Equal(t, given, p.given)
}

// BenchmarkJob is the time of a job on which each of two workers spends some time, with other work of the caller
// before the next job, for goroutines and for threads on two CPUs. The best result is the sum of the two times. The
// caller may do short jobs itself.
func BenchmarkJob(b *testing.B) {
	cpus, err := numa.Affinity()
	if err != nil || len(cpus) < 2 {
		b.Skip("needs two CPUs")
	}
	busy := func(d time.Duration) {
		for begin := time.Now(); time.Since(begin) < d; {
		}
	}
	for _, kind := range []string{"run", "short", "placed"} {
		for _, j := range []struct{ work, apart time.Duration }{{}, {work: 2}, {work: 20}, {work: 20, apart: 30}, {work: 90}, {work: 400}, {work: 2, apart: 200}, {work: 20, apart: 200}} {
			b.Run(fmt.Sprintf("%s/work=%dus/apart=%dus", kind, j.work, j.apart), func(b *testing.B) {
				var on []int
				if kind == "placed" {
					on = cpus[:2]
				}
				p := New(2, DefaultGrain, on, func(err error) { b.Fatal(err) })
				defer p.Close()
				for b.Loop() {
					_ = p.runJob(2, func(int) { busy(j.work * time.Microsecond) }, kind == "short")
					busy(j.apart * time.Microsecond)
				}
			})
		}
	}
}

func TestConcurrentCallersDoTheirOwnJobsAndReportTheirOwnPanics(t *testing.T) {
	p := New(2, DefaultGrain, nil, nil)
	var alone, working, most atomic.Int64
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for k := range 200 {
				var calls [2]int
				if p.actsAlone(0) {
					alone.Add(1)
				}
				err := p.Run(2, func(i int) {
					most.Store(max(most.Load(), working.Add(1)))
					defer working.Add(-1)
					runtime.Gosched()
					calls[i]++
					if c == 3 && i == 0 {
						panic(fmt.Sprint("job ", k))
					}
				})
				assert.Equal(t, [2]int{1, 1}, calls)
				if c == 3 {
					assert.ErrorContains(t, err, fmt.Sprint("job ", k))
				} else {
					assert.NoError(t, err)
				}
			}
		})
	}
	callers.Wait()
	require.NotZero(t, alone.Load())
	require.LessOrEqual(t, most.Load(), int64(4), "two by themselves, and two for one that came before them")
	time.Sleep(2 * concurrentTime)
	require.False(t, p.actsAlone(1), "the concurrent callers are gone")
	require.True(t, p.actsAlone(2))
	p.Close()
	require.ErrorIs(t, p.Run(2, func(int) {}), kernels.ErrClosed)
}

// BenchmarkCallers is the time for each of 64 jobs of two equal pieces, which so many goroutines give to two workers
// at once. After each job a goroutine works as long as a piece takes.
func BenchmarkCallers(b *testing.B) {
	for _, work := range []int{20_000, 200_000} {
		for _, callers := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("work=%d/callers=%d", work, callers), func(b *testing.B) {
				p := New(2, DefaultGrain, nil, nil)
				defer p.Close()
				var sum atomic.Int64
				busy := func(i int) {
					s := int64(i)
					for k := range work {
						s = s*6364136223846793005 + int64(k)
					}
					sum.Add(s)
				}
				for b.Loop() {
					var all sync.WaitGroup
					for range callers {
						all.Go(func() {
							for range 64 / callers {
								_ = p.Run(2, busy)
								busy(2)
							}
						})
					}
					all.Wait()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/64, "us/job")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
