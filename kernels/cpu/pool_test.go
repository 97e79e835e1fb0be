package cpu

import (
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

func TestEveryWorkerOfAPlacedDeviceIsAThreadOnItsCPUs(t *testing.T) {
	all, err := numa.Affinity()
	if err != nil {
		t.Skip(err)
	}
	one := all[len(all)-1:]
	d := open(t, Config{Threads: 3, NUMANode: -1, CPUs: one, OnRefused: func(err error) { t.Error(err) }})
	var together sync.WaitGroup
	together.Add(3)
	var pinned atomic.Int32
	require.NoError(t, d.Run(3, func(int) {
		together.Done()
		together.Wait()
		if cpus, err := numa.Affinity(); err == nil && len(cpus) == 1 && cpus[0] == one[0] {
			pinned.Add(1)
		}
	}))
	require.Equal(t, int32(3), pinned.Load())
	require.NoError(t, d.Close())
}

func TestWorkersThatCannotBePinnedWorkAllTheSame(t *testing.T) {
	var refused []error
	d := open(t, Config{Threads: 3, NUMANode: 900, CPUs: []int{numa.MaxCPU}, OnRefused: func(err error) { refused = append(refused, err) }})
	require.Len(t, refused, 1, "one error for all workers")
	require.ErrorIs(t, refused[0], numa.ErrRefused)
	b, err := d.Alloc(1 << 20)
	require.NoError(t, err)
	for _, err := range refused {
		require.ErrorIs(t, err, numa.ErrRefused)
	}
	s, err := d.NewStream()
	require.NoError(t, err)
	require.NoError(t, s.Write(b, 0, make([]byte, 1<<20)))
	require.NoError(t, b.Free())
	require.NoError(t, d.Close())

	quiet := open(t, Config{Threads: 1, CPUs: []int{numa.MaxCPU}}) // no such CPU exists, and no callback is set
	require.NoError(t, quiet.Close())
}

func TestRunCallsEveryNumberOnceAndReportsPanics(t *testing.T) {
	for _, cpus := range [][]int{nil, {0}} {
		d := open(t, Config{Threads: 4, NUMANode: -1, CPUs: cpus})
		for n := 1; n <= 4; n++ {
			var calls [4]atomic.Int32
			require.NoError(t, d.Run(n, func(i int) { calls[i].Add(1) }))
			for i := range calls {
				require.Equal(t, i < n, calls[i].Load() == 1)
			}
		}
		err := d.Run(4, func(i int) {
			if i >= 2 {
				panic("oh dear")
			}
		})
		require.ErrorContains(t, err, "oh dear")
		require.NoError(t, d.Run(4, func(int) {}), "the workers go on")
		require.ErrorIs(t, d.Run(5, func(int) {}), kernels.ErrArgument)
		require.ErrorIs(t, d.Run(0, func(int) {}), kernels.ErrArgument)
		require.NoError(t, d.Close())
		require.NoError(t, d.Close())
		err = d.Run(1, func(int) {})
		require.ErrorIs(t, err, kernels.ErrClosed)
		var de *kernels.DeviceError
		require.True(t, errors.As(err, &de))
	}
}

func TestSumOnWorkersHasTheBitsOfSum(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	d := open(t, Config{Threads: 3, NUMANode: -1, CPUs: []int{0}})
	for _, m := range []int{0, 1, 100, sumChunk, 3*sumChunk + 5, 5 * sumChunk} {
		for _, k := range []int{0, 1, 2, 5} {
			y, want := make([]float64, m), make([]float64, m)
			in := make([][]float64, k)
			for i := range in {
				in[i] = make([]float64, m)
				for j := range in[i] {
					in[i][j] = rng.NormFloat64()
				}
			}
			for j := range y {
				y[j] = rng.NormFloat64()
			}
			copy(want, y)
			require.NoError(t, merge.Sum(want, 0.3, in))
			require.NoError(t, SumOn(d, y, 0.3, in))
			require.Equal(t, want, y)
		}
	}
	require.True(t, sparse.IsInput(SumOn(d, make([]float64, 2), 1, [][]float64{{1}})))
	require.NoError(t, d.Close())
	require.ErrorIs(t, SumOn(d, make([]float64, 1), 1, nil), kernels.ErrClosed)
}

func TestWorkersThatHaveNothingToDoSleep(t *testing.T) {
	p := newPool(2, nil, nil)
	defer p.close()
	require.NoError(t, p.run(2, func(int) {}))
	require.Eventually(t, func() bool { return p.workers[0].wait.asleep.Load() != awake }, 10*time.Second, time.Millisecond)
	var calls atomic.Int32
	require.NoError(t, p.run(2, func(int) { calls.Add(1) }))
	require.Equal(t, int32(2), calls.Load(), "and wake")
}

func TestManyShortJobsLoseNoWakeUp(t *testing.T) {
	p := newPool(2, nil, nil)
	defer p.close()
	jobs := 20_000
	if testing.Short() {
		jobs = 2_000
	}
	const others = 1 << 20 // threads of other pools, which leave no CPU to spin on
	var calls [2]int
	for i := range jobs {
		if i%1000 == 0 {
			time.Sleep(2 * spinTime) // both workers sleep then
		}
		if i%3 == 0 {
			threadsBusy.Add(others)
		}
		require.NoError(t, p.run(1+i%2, func(w int) { calls[w]++ }))
		if i%3 == 0 {
			threadsBusy.Add(-others)
		}
	}
	require.Equal(t, [2]int{jobs, jobs / 2}, calls)
}

func TestWorkersDoNotSpinWithoutACPUForEach(t *testing.T) {
	few := newPool(1, nil, nil)
	require.True(t, few.spin(spinTime) > 0 || threadsBusy.Load() > int64(runtime.NumCPU()))
	many := newPool(runtime.NumCPU(), nil, nil)
	require.Zero(t, few.spin(spinTime), "other pools count")
	require.Zero(t, many.spin(spinTime))
	many.close()
	few.close()
	busy := newPool(runtime.GOMAXPROCS(0)+1, nil, nil)
	require.Zero(t, busy.spin(spinTime))
	busy.close()
	one := newPool(2, []int{0}, func(error) {})
	require.Zero(t, one.spin(spinTime), "both are on one CPU")
	one.close()
}

func TestWorkersFollowGOMAXPROCS(t *testing.T) {
	const size = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(size))
	before := threadsBusy.Load()
	p, half := newPool(size, nil, nil), newPool(size/2, nil, nil)
	placed := newPool(2, []int{0}, func(error) {})
	var pools int64 = size + size/2 + 3
	require.Equal(t, before+pools, threadsBusy.Load())
	jobs := func(p *pool, n int) (most int64) {
		var at, peak atomic.Int64
		for k := range 2 * countEvery {
			var calls [size]atomic.Int32
			err := p.run(n, func(i int) {
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
	for _, p := range []*pool{p, half, placed} {
		p.close()
	}
	require.Equal(t, before, threadsBusy.Load())
}

func TestAShortJobWakesNobodyUntilSuchJobsFollowEachOther(t *testing.T) {
	p := newPool(2, nil, nil)
	defer p.close()
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
				for begin := time.Now(); time.Since(begin) < spinTime/4; {
				}
			}, true))
		}
		require.True(t, p.given != given || p.spin(1) == 0)
	}
	threadsBusy.Add(1 << 20) // threads of other pools, which leave no CPU to spin on
	defer threadsBusy.Add(-1 << 20)
	require.NoError(t, p.run(2, func(int) {}))
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
				p := newPool(2, on, func(err error) { b.Fatal(err) })
				defer p.close()
				for b.Loop() {
					_ = p.runJob(2, func(int) { busy(j.work * time.Microsecond) }, kind == "short")
					busy(j.apart * time.Microsecond)
				}
			})
		}
	}
}

func TestConcurrentCallersDoTheirOwnJobsAndReportTheirOwnPanics(t *testing.T) {
	p := newPool(2, nil, nil)
	var alone, working, most atomic.Int64
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for k := range 200 {
				var calls [2]int
				if p.actsAlone(0) {
					alone.Add(1)
				}
				err := p.run(2, func(i int) {
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
	p.close()
	require.ErrorIs(t, p.run(2, func(int) {}), kernels.ErrClosed)
}

// BenchmarkCallers is the time for each of 64 jobs of two equal pieces, which so many goroutines give to two workers
// at once. After each job a goroutine works as long as a piece takes.
func BenchmarkCallers(b *testing.B) {
	for _, work := range []int{20_000, 200_000} {
		for _, callers := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("work=%d/callers=%d", work, callers), func(b *testing.B) {
				p := newPool(2, nil, nil)
				defer p.close()
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
								_ = p.run(2, busy)
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
