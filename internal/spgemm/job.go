package spgemm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/par"
)

// job is a computation in phases. A phase has pieces, each of which is done once, by the worker that takes it; the next phase
// begins when all pieces have ended. The workers are woken once for all phases: waking one may take longer than a phase.
//
// A worker waits for pieces that others have taken, never for a worker that has not come. So Run may call work for one worker
// after the other, in any order, and a worker that comes late joins the phase that runs.
type job struct {
	phases  []*phase
	ended   func() error // called before each piece; an error stops the job
	stopped atomic.Bool

	mu      sync.Mutex
	changed sync.Cond // a phase has ended, or the job has been stopped
}

// phase is a phase of a job.
type phase struct {
	pieces func() int // their number; called when the phases before have ended
	do     func(worker, piece int)

	_    [64]byte // workers write what follows
	next atomic.Int64
	done atomic.Int64
	_    [64]byte
}

func newJob(ended func() error) *job {
	j := &job{ended: ended}
	j.changed.L = &j.mu
	return j
}

// each adds a phase: do is called for each piece.
func (j *job) each(pieces func() int, do func(worker, piece int)) {
	j.phases = append(j.phases, &phase{pieces: pieces, do: do})
}

// once adds a phase of one piece.
func (j *job) once(do func()) {
	j.each(func() int { return 1 }, func(int, int) { do() })
}

// work takes pieces of all phases until all have been taken. Each worker calls it once. A panic of a piece stops the job.
func (j *job) work(worker int) {
	over := false
	defer func() {
		if !over {
			j.stopped.Store(true)
			j.wake()
		}
	}()
	begin := time.Now()
	for k, p := range j.phases {
		n := int64(p.pieces())
		for i := p.next.Add(1) - 1; i < n; i = p.next.Add(1) - 1 {
			if j.stopped.Load() || j.ended() != nil {
				return
			}
			p.do(worker, int(i))
			if p.done.Add(1) == n {
				j.wake()
			}
		}
		if k < len(j.phases)-1 && !j.wait(p, n, begin) {
			return
		}
	}
	over = true
}

// Waiting workers poll at least pollTime, which is longer than waking a thread mostly takes, and as long as they have worked.
// After yieldAfter they let other threads and goroutines run in between: those that they wait for may need the CPU.
const (
	pollTime   = 200 * time.Microsecond
	yieldAfter = 2 * time.Microsecond
)

// wait returns once n pieces of p have ended, or false if the job has been stopped. begin is when the worker came.
func (j *job) wait(p *phase, n int64, begin time.Time) bool {
	over := func() bool { return p.done.Load() == n || j.stopped.Load() }
	if over() {
		return !j.stopped.Load()
	}
	since := time.Now()
	most := max(since.Sub(begin), pollTime)
	for turn, waited := 1, time.Duration(0); waited < most; turn, waited = turn+1, time.Since(since) {
		for range 32 {
			if over() {
				return !j.stopped.Load()
			}
		}
		switch {
		case waited < yieldAfter:
		case turn%16 == 0:
			runtime.Gosched()
		default:
			par.Yield()
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for !over() {
		j.changed.Wait()
	}
	return !j.stopped.Load()
}

// wake wakes the workers that sleep in wait.
func (j *job) wake() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.changed.Broadcast()
}
