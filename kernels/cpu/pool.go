package cpu

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// pool is the workers of a device. Without CPUs of their own they are goroutines
// that wait for work, and the one that asks for it. With CPUs every worker is a
// goroutine that holds a thread of the system, which runs on these CPUs only.
//
// Workers that wait look for the next job for some microseconds before they sleep, and
// the one that waits for them as long as its own part took: products that follow each
// other then need nobody to be woken. They sleep at once where the process has more
// workers than CPUs.
//
// Where GOMAXPROCS falls after the pool was opened, as Go lowers it with the limit of a container,
// fewer workers make all pieces of a job, so that there is still a CPU for each; see look. Workers
// with CPUs of their own go on as before.
//
// A line of the cache takes longer from one CPU to another than a worker to add a hundred
// products. So a job goes to a worker in one line, and its end comes back in another; workers
// read nothing else that the one that asks writes.
type pool struct {
	size    int  // workers
	placed  bool // the one that asks does no work itself
	crammed bool // there are more workers than CPUs of their own
	opened  int  // GOMAXPROCS when the pool was opened
	workers []*worker
	cpus    atomic.Int64   // for the threads of the process, when look looked last
	share   atomic.Int64   // workers that take part in a job
	live    sync.WaitGroup // goroutines that have not ended

	_      [64]byte
	ended  atomic.Uint32 // jobs that workers have finished
	done   gate
	isDone func() bool
	_      [64]byte

	mu      sync.Mutex // one job of the workers at a time
	closed  atomic.Bool
	given   uint32        // jobs that workers were given
	unseen  int           // jobs since look looked
	askers  atomic.Int64  // goroutines that have a job done, or wait for their turn
	crowded atomic.Int64  // when there were as many as workers last, in ns since epoch; 0 is never
	alone   chan struct{} // a place for each of those that do their jobs by themselves: as many as workers

	quietEnd  time.Duration // when a short job ended last that woke nobody, since epoch
	quietTime time.Duration // that such jobs took, each within spinTime of the one before

	faultMu sync.Mutex
	fault   error
}

// worker is a goroutine of a pool, and what it is told: a line of the cache.
type worker struct {
	number int
	jobs   atomic.Uint32 // that it was given
	last   uint32        // how many of all workers have ended when this one is over
	job    func(i int)   // nil ends the worker
	gate   gate
	_      [64]byte
}

// threadsBusy is the threads that jobs of all pools of the process may keep busy, threadsAll those
// that they would with all workers.
var threadsBusy, threadsAll atomic.Int64

// lookEvery is how many jobs there are between two looks at GOMAXPROCS, each of which takes a lock
// of Go's scheduler.
const lookEvery = 16

// crowdTime is for how long after a crowd callers do their jobs by themselves: solvers have other
// work between two products.
const crowdTime = 10 * time.Millisecond

// epoch is a time before all jobs.
var epoch = time.Now().Add(-time.Second)

// newPool starts n workers, on cpus if there are any. onRefused is called
// where the kernel does not pin them; they then run anywhere.
func newPool(n int, cpus []int, onRefused func(error)) *pool {
	p := &pool{size: n, placed: len(cpus) > 0, opened: runtime.GOMAXPROCS(0), done: newGate(), alone: make(chan struct{}, n)}
	p.crammed = p.placed && n > len(cpus)
	p.isDone = func() bool { return p.ended.Load() == p.given }
	first := 1
	if p.placed {
		first = 0
	}
	threadsAll.Add(p.busy(n))
	p.look()
	for i := first; i < n; i++ {
		w := &worker{number: i, gate: newGate()}
		w.gate.shared = func(cpu int32) bool { return p.done.cpu.Load() == cpu }
		p.workers = append(p.workers, w)
	}
	p.done.shared = func(cpu int32) bool {
		return slices.ContainsFunc(p.workers, func(w *worker) bool { return w.gate.cpu.Load() == cpu })
	}
	if !p.placed {
		for _, w := range p.workers {
			p.live.Go(func() { p.serve(w) })
		}
		return p
	}
	pinned := make(chan error, n)
	for _, w := range p.workers {
		p.live.Go(func() {
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

// busy is the threads that a job of so many workers keeps busy: these, and the one that asks.
func (p *pool) busy(workers int) int64 {
	if p.placed {
		return int64(workers + 1)
	}
	return int64(workers)
}

// look finds out how many CPUs there are for the process, and how many workers take part in a job:
// all of them, unless GOMAXPROCS is less than the threads of all pools and than it was when the pool
// was opened. It is then the part of them that leaves as many threads as GOMAXPROCS is now.
// p.mu is held.
func (p *pool) look() {
	p.unseen = 0
	procs := runtime.GOMAXPROCS(0)
	p.cpus.Store(int64(min(procs, runtime.NumCPU())))
	share := int64(p.size)
	if !p.placed {
		share = min(max(share*int64(procs)/min(threadsAll.Load(), int64(p.opened)), 1), share)
	}
	if before := p.share.Swap(share); before != share {
		if before > 0 {
			threadsBusy.Add(-p.busy(int(before)))
		}
		threadsBusy.Add(p.busy(int(share)))
	}
}

// spin is how long to look for work rather than to sleep: for so long, or not at all.
func (p *pool) spin(d time.Duration) time.Duration {
	if !p.crammed && threadsBusy.Load() <= p.cpus.Load() {
		return d
	}
	return 0
}

// serve does jobs until the pool is closed.
func (p *pool) serve(w *worker) {
	var made uint32
	ready := func() bool { return w.jobs.Load() != made }
	for {
		w.gate.wait(ready, p.spin(spinTime))
		made++
		job, last := w.job, w.last
		if job == nil {
			return
		}
		w.job = nil // it keeps nothing alive
		p.one(job, w.number)
		if p.ended.Add(1) == last { // w may have another job by now
			p.done.open()
		}
	}
}

// give gives a worker a job, which is over when last jobs have ended, or nil, which ends it.
func (w *worker) give(job func(i int), last uint32) {
	w.job, w.last = job, last
	w.jobs.Add(1)
	w.gate.open()
}

// run calls f(0) ... f(n-1), n at most the number of workers, and waits. A panic
// of f comes back as an error. No call may wait for another one: where there are as many
// callers as workers, each makes all calls of its own by itself, as many at once as there are
// workers. These have nothing to do then, and nobody waits for one that has to wait for a CPU.
func (p *pool) run(n int, f func(i int)) error { return p.runJob(n, f, false) }

// runJob is run for calls of which short says that all together take no longer than to wake a worker.
func (p *pool) runJob(n int, f func(i int), short bool) error {
	if n > p.size {
		return fmt.Errorf("%w: %d pieces for %d workers", kernels.ErrArgument, n, p.size)
	}
	defer p.askers.Add(-1)
	if p.crowd(p.askers.Add(1)) {
		return p.byItself(n, f)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return kernels.ErrClosed
	}
	p.fault = nil
	if p.unseen++; p.unseen >= lookEvery {
		p.look()
	}
	takePart := min(n, int(p.share.Load()))
	busy := p.workers[:takePart-(p.size-len(p.workers))]
	if short && p.quiet(busy) {
		begin := time.Since(epoch)
		err := callAll(n, f)
		p.quietEnd = time.Since(epoch)
		p.quietTime += p.quietEnd - begin
		return err
	}
	if takePart < n {
		one := f
		f = func(i int) {
			for k := n * i / takePart; k < n*(i+1)/takePart; k++ {
				p.one(one, k)
			}
		}
	}
	p.given += uint32(len(busy))
	for _, w := range busy {
		w.give(f, p.given)
	}
	if len(busy) == 0 {
		p.one(f, 0)
		return p.fault
	}
	begin := time.Since(epoch)
	if !p.placed {
		p.one(f, 0)
	}
	// The others have as much to do: they are late by hardly more than it took to wake them.
	p.done.wait(p.isDone, p.spin(max(wakeTime, time.Since(epoch)-begin)))
	return p.fault
}

// quiet reports whether the one that asks does a short job by itself, for which some of these
// workers would have to be woken. Where such jobs follow each other they wake them once they
// have taken as long as that does.
func (p *pool) quiet(busy []*worker) bool {
	if p.placed || !slices.ContainsFunc(busy, func(w *worker) bool { return w.gate.asleep.Load() != awake }) {
		return false
	}
	if time.Since(epoch)-p.quietEnd > spinTime || p.spin(1) == 0 {
		p.quietTime = 0
	}
	return p.quietTime < spinTime
}

// crowd reports whether a caller, one of so many, does its job by itself.
func (p *pool) crowd(askers int64) bool {
	share := p.share.Load()
	if p.placed || share == 1 {
		return false
	}
	if askers >= share {
		p.crowded.Store(int64(time.Since(epoch)))
		return true
	}
	last := p.crowded.Load()
	return last != 0 && int64(time.Since(epoch))-last < int64(crowdTime)
}

// byItself calls f(0) ... f(n-1) without the workers, beside as many others as there are workers.
func (p *pool) byItself(n int, f func(i int)) error {
	p.alone <- struct{}{}
	defer func() { <-p.alone }()
	if p.closed.Load() {
		return kernels.ErrClosed
	}
	return callAll(n, f)
}

// callAll calls f(0) ... f(n-1), and gives the first panic.
func callAll(n int, f func(i int)) (fault error) {
	for i := range n {
		if err := call(f, i); fault == nil {
			fault = err
		}
	}
	return fault
}

// one calls f(i), and keeps the first panic of a job.
func (p *pool) one(f func(i int), i int) {
	if err := call(f, i); err != nil {
		p.faultMu.Lock()
		defer p.faultMu.Unlock()
		if p.fault == nil {
			p.fault = err
		}
	}
}

// call is f(i), with a panic as an error.
func call(f func(i int), i int) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if err = sparse.LostFile(r); err == nil {
				err = fmt.Errorf("%w: kernel panicked: %w", kernels.ErrArgument, crash.Recovered(r))
			}
		}
	}()
	f(i)
	return nil
}

// close ends the workers and waits for them.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range p.size {
		p.alone <- struct{}{}
	}
	defer func() {
		for range p.size {
			<-p.alone
		}
	}()
	if !p.closed.Swap(true) {
		for _, w := range p.workers {
			w.give(nil, 0)
		}
		p.live.Wait()
		threadsBusy.Add(-p.busy(int(p.share.Load())))
		threadsAll.Add(-p.busy(p.size))
	}
}
