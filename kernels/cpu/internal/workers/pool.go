// Package workers is the goroutines and threads that compute products on a CPU device: how they get jobs, poll and
// sleep (docs/decisions/0014-waking-workers.md), how many of them a job takes, and the time that they spend on it.
package workers

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/lostfile"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// Pool is the workers of a device. Without CPUs of their own the workers are goroutines that wait for work, and the
// calling goroutine. With CPUs every worker is a goroutine that holds a system thread, which runs on these CPUs only.
//
// Waiting workers poll for the next job for some microseconds before they sleep. The caller polls for the end of a
// job as long as its own part took. Consecutive products then wake nobody. Workers sleep at once if the process has
// more workers than CPUs.
//
// GOMAXPROCS may fall after the pool was opened, as Go lowers it with the limit of a container. Fewer workers then
// make all pieces of a job, so that each still has a CPU; see countCPUs. Workers with CPUs of their own do not change.
//
// A cache line takes longer from one CPU to another than a worker takes to add a hundred products. A job therefore
// goes to a worker in one line, and its end comes back in another; workers read nothing else that the caller writes.
type Pool struct {
	Size           int   // number of workers
	Placed         bool  // the caller does no work itself
	grain          int64 // number of entries and rows of a part for which one more worker pays
	oversubscribed bool  // more workers than CPUs of their own
	opened         int   // GOMAXPROCS when the pool was opened
	workers        []*worker
	cpus           atomic.Int64   // CPUs for the threads of the process, as of the last count
	active         atomic.Int64   // number of workers that take part in a job
	contention     contention     // whether waiting workers sleep at once
	outside        outside        // runs jobs instead of workers, unless its run is nil
	running        sync.WaitGroup // goroutines that have not ended

	_      [64]byte
	ended  atomic.Uint32 // number of jobs that workers have finished
	done   waitPoint
	isDone func() bool
	_      [64]byte

	mu         sync.Mutex    // one job of the workers at a time
	Closed     atomic.Bool   // calls of Run fail. Tests set it
	given      uint32        // number of jobs given to workers
	uncounted  int           // number of jobs since the last count
	late       []*worker     // scratch memory of runJob
	callers    atomic.Int64  // goroutines whose job runs or waits
	concurrent atomic.Int64  // when as many callers as workers were active last, in ns since epoch; 0 for never
	alone      chan struct{} // one place for each caller that does its job itself: as many as workers

	aloneEnd  time.Duration // when the last short job that woke nobody ended, since epoch
	aloneTime time.Duration // total time of such jobs, each within SpinTime of the one before

	faultMu sync.Mutex
	fault   error
}

// worker is a goroutine of a pool, with its current job, in one cache line.
type worker struct {
	number int
	jobs   atomic.Uint32 // number of jobs given to it
	taken  atomic.Uint32 // the last job that the worker or the caller has taken
	stolen atomic.Uint32 // the last job that the caller has taken
	last   uint32        // value of pool.ended at the end of this job
	job    func(i int)   // nil ends the worker
	wait   waitPoint
	_      [64]byte
}

// threadsBusy is the number of threads that jobs of all pools of the process may keep busy, and threadsAll the same
// if all workers took part.
var threadsBusy, threadsAll atomic.Int64

// countEvery is the number of jobs between two readings of GOMAXPROCS, each of which takes a lock of Go's scheduler.
const countEvery = 16

// concurrentTime is how long callers do their jobs themselves after there were as many of them as workers: solvers
// have other work between two products.
const concurrentTime = 10 * time.Millisecond

// epoch is a time before all jobs.
var epoch = time.Now().Add(-time.Second)

// NewOutside returns a Pool that has no workers of its own: run calls f for all pieces of a job, up to n of them, at the
// same time.
func NewOutside(n int, grain int64, run func(n int, f func(i int))) *Pool {
	p := newPool(n, grain, nil)
	p.outside.run = run
	return p
}

// newPool returns a Pool without workers.
func newPool(n int, grain int64, cpus []int) *Pool {
	p := &Pool{Size: n, Placed: len(cpus) > 0, grain: grain, opened: runtime.GOMAXPROCS(0), done: newWaitPoint(), alone: make(chan struct{}, n)}
	p.oversubscribed = p.Placed && n > len(cpus)
	threadsAll.Add(p.busy(n))
	p.countCPUs()
	return p
}

// New starts n workers, on cpus if there are any. It calls onRefused if the kernel does not pin them; they then
// run anywhere. One more worker works on a part for each grain entries and rows.
func New(n int, grain int64, cpus []int, onRefused func(error)) *Pool {
	p := newPool(n, grain, cpus)
	p.isDone = func() bool { return p.ended.Load() == p.given }
	first := 1
	if p.Placed {
		first = 0
	}
	for i := first; i < n; i++ {
		w := &worker{number: i, wait: newWaitPoint()}
		w.stolen.Store(math.MaxUint32 - 1) // no job yet
		w.wait.shared = func(cpu int32) bool { return p.done.cpu.Load() == cpu }
		w.wait.contention = &p.contention
		p.workers = append(p.workers, w)
	}
	p.done.shared = func(cpu int32) bool {
		return slices.ContainsFunc(p.workers, func(w *worker) bool { return w.wait.cpu.Load() == cpu })
	}
	if !p.Placed {
		for _, w := range p.workers {
			p.running.Go(func() { p.serve(w) })
		}
		return p
	}
	pinned := make(chan error, n)
	for _, w := range p.workers {
		p.running.Go(func() {
			// Never unlocked once pinned: the thread ends with the goroutine.
			runtime.LockOSThread()
			err := numa.Pin(cpus)
			if err != nil {
				runtime.UnlockOSThread()
			}
			pinned <- err
			p.serve(w)
		})
	}
	var refused error
	for range n {
		if err := <-pinned; err != nil {
			refused = err
		}
	}
	if refused != nil {
		onRefused(refused)
	}
	return p
}

// busy returns the number of threads that a job of the given number of workers keeps busy: the workers and the caller.
func (p *Pool) busy(workers int) int64 {
	if p.Placed {
		return int64(workers + 1)
	}
	return int64(workers)
}

// countCPUs finds out how many CPUs the process has and how many workers take part in a job. All workers do, unless
// GOMAXPROCS is less than the threads of all pools and less than it was when the pool was opened. Then only the
// number takes part with which the jobs of all pools together keep GOMAXPROCS threads busy. The caller holds p.mu.
func (p *Pool) countCPUs() {
	p.uncounted = 0
	procs := runtime.GOMAXPROCS(0)
	p.cpus.Store(int64(min(procs, runtime.NumCPU())))
	active := int64(p.Size)
	if !p.Placed {
		active = min(max(active*int64(procs)/min(threadsAll.Load(), int64(p.opened)), 1), active)
	}
	if before := p.active.Swap(active); before != active {
		if before > 0 {
			threadsBusy.Add(-p.busy(int(before)))
		}
		threadsBusy.Add(p.busy(int(active)))
	}
}

// spin returns how long to poll before sleeping: d, or 0 if the process has more threads than CPUs.
func (p *Pool) spin(d time.Duration) time.Duration {
	if !p.oversubscribed && threadsBusy.Load() <= p.cpus.Load() {
		return d
	}
	return 0
}

// SleepAtOnce makes waiting workers sleep without polling from now on, which leaves their CPUs to other threads of the
// program.
func (p *Pool) SleepAtOnce() { p.contention.always.Store(true) }

// serve does jobs until the pool is closed.
func (p *Pool) serve(w *worker) {
	var made uint32
	short := false
	ready := func() bool { return w.jobs.Load() != made }
	for {
		spin := p.spin(SpinTime)
		if spin > 0 && p.contention.present() {
			spin = 1 // sleep at once, but as a thread
			if !short {
				short = true
				runtime.LockOSThread() // the thread ends with the worker
				shortSlice()
			}
		}
		woken := w.wait.wait(ready, spin)
		made = w.jobs.Load() // the caller has taken those between
		if (woken || w.maybeStolen(made)) && !w.take(made) {
			continue
		}
		job, last := w.job, w.last
		if job == nil {
			return
		}
		w.job = nil // lets the collector free what f refers to
		p.runOne(job, w.number)
		w.taken.Store(made)
		if p.ended.Add(1) == last { // w may have another job by now
			p.done.open()
		}
	}
}

// start gives a worker a job, which is over when last jobs have ended. A nil job ends the worker. start reports whether
// the caller may try to take the job itself.
//
// Waking a thread may take longer than the job, and if other threads keep its CPU busy, as long as their time slice.
// If the worker had to be woken, or has not noticed yet that its last job was taken, both call take before they begin
// the job. A worker that polls does without: the time to exchange a cache line is part of the time of every job.
func (w *worker) start(job func(i int), last uint32) (contested bool) {
	w.job, w.last = job, last
	n := w.jobs.Add(1)
	woken := w.wait.open()
	return woken || w.maybeStolen(n)
}

// maybeStolen reports whether the caller has taken job n-1 itself, and by now perhaps job n.
func (w *worker) maybeStolen(n uint32) bool { return n-w.stolen.Load() <= 1 }

// take reports whether the caller of take is the first to take job n.
func (w *worker) take(n uint32) bool { return w.taken.CompareAndSwap(n-1, n) }

// steal does the jobs of workers that have been woken and have not begun.
func (p *Pool) steal(late []*worker) {
	for _, w := range late { // in order of their numbers: a piece may wait for one before it
		n := w.jobs.Load()
		if !w.take(n) {
			continue
		}
		w.stolen.Store(n)
		job := w.job
		w.job = nil
		p.runOne(job, w.number)
		p.ended.Add(1)
	}
}

// Run calls f(0) ... f(n-1) and waits. n is at most the number of workers. A panic of f is returned as an error. No
// call may wait for another one: if there are as many callers as workers, each caller makes all its calls itself, and
// as many callers as workers do so at once. The workers are then idle, and no caller waits for a worker that waits
// for a CPU.
func (p *Pool) Run(n int, f func(i int)) error { return p.runJob(n, f, false) }

// runJob is run with the hint that all calls together are short: they take no longer than waking a worker.
func (p *Pool) runJob(n int, f func(i int), short bool) error {
	if n > p.Size {
		return fmt.Errorf("%w: %d pieces for %d workers", kernels.ErrArgument, n, p.Size)
	}
	defer p.callers.Add(-1)
	if p.actsAlone(p.callers.Add(1)) {
		return p.ByItself(n, f)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Closed.Load() {
		return kernels.ErrClosed
	}
	p.fault = nil
	if p.uncounted++; p.uncounted >= countEvery {
		p.countCPUs()
	}
	takePart := min(n, int(p.active.Load()))
	one := f
	if takePart < n {
		f = func(i int) {
			for k := n * i / takePart; k < n*(i+1)/takePart; k++ {
				p.runOne(one, k)
			}
		}
	}
	if p.outside.run != nil {
		return p.runOutside(takePart, f)
	}
	busy := p.workers[:takePart-(p.Size-len(p.workers))]
	if short && p.wakesNobody(busy) {
		begin := time.Since(epoch)
		err := callAll(n, one)
		p.aloneEnd = time.Since(epoch)
		p.aloneTime += p.aloneEnd - begin
		return err
	}
	p.given += uint32(len(busy))
	late := p.late[:0] // workers whose job the caller may take
	for _, w := range busy {
		if w.start(f, p.given) {
			late = append(late, w)
		}
	}
	p.late = late
	if len(busy) == 0 {
		p.runOne(f, 0)
		return p.fault
	}
	begin := time.Since(epoch)
	if !p.Placed {
		p.runOne(f, 0)
		p.steal(late)
	}
	// The other workers have as much to do: they are late by little more than the time to wake them.
	p.done.wait(p.isDone, p.spin(max(wakeTime, time.Since(epoch)-begin)))
	return p.fault
}

// wakesNobody reports whether the caller does a short job itself because some of the workers in busy would have to be
// woken. Consecutive short jobs wake the workers once they have taken as long as waking takes.
func (p *Pool) wakesNobody(busy []*worker) bool {
	if p.Placed || !slices.ContainsFunc(busy, func(w *worker) bool { return w.wait.asleep.Load() != awake }) {
		return false
	}
	if time.Since(epoch)-p.aloneEnd > SpinTime || p.spin(1) == 0 {
		p.aloneTime = 0
	}
	return p.aloneTime < SpinTime
}

// Given returns the number of jobs given to workers.
func (p *Pool) Given() uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given
}

// Asleep reports whether all workers sleep, apart from the calling goroutine.
func (p *Pool) Asleep() bool {
	return !slices.ContainsFunc(p.workers, func(w *worker) bool { return w.wait.asleep.Load() == awake })
}

// actsAlone reports whether a caller does its job itself, because there are or were just now as many callers as
// workers. callers is the current number.
func (p *Pool) actsAlone(callers int64) bool {
	active := p.active.Load()
	if p.Placed || active == 1 {
		return false
	}
	if callers >= active {
		p.concurrent.Store(int64(time.Since(epoch)))
		return true
	}
	last := p.concurrent.Load()
	return last != 0 && int64(time.Since(epoch))-last < int64(concurrentTime)
}

// ByItself calls f(0) ... f(n-1) in the calling goroutine. At most as many callers as workers do so at once.
func (p *Pool) ByItself(n int, f func(i int)) error {
	p.alone <- struct{}{}
	defer func() { <-p.alone }()
	if p.Closed.Load() {
		return kernels.ErrClosed
	}
	return callAll(n, f)
}

// callAll calls f(0) ... f(n-1) and returns the first panic as an error.
func callAll(n int, f func(i int)) (fault error) {
	for i := range n {
		if err := call(f, i); fault == nil {
			fault = err
		}
	}
	return fault
}

// runOne calls f(i) and keeps the first panic of a job.
func (p *Pool) runOne(f func(i int), i int) {
	if err := call(f, i); err != nil {
		p.faultMu.Lock()
		defer p.faultMu.Unlock()
		if p.fault == nil {
			p.fault = err
		}
	}
}

// call calls f(i) and returns a panic as an error.
func call(f func(i int), i int) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if err = lostfile.Error(r); err == nil {
				err = fmt.Errorf("%w: kernel panicked: %w", kernels.ErrArgument, crash.Recovered(r))
			}
		}
	}()
	f(i)
	return nil
}

// Close ends the workers and waits for them.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range p.Size {
		p.alone <- struct{}{}
	}
	defer func() {
		for range p.Size {
			<-p.alone
		}
	}()
	if !p.Closed.Swap(true) {
		for _, w := range p.workers {
			w.start(nil, 0)
		}
		p.running.Wait()
		threadsBusy.Add(-p.busy(int(p.active.Load())))
		threadsAll.Add(-p.busy(p.Size))
	}
}
