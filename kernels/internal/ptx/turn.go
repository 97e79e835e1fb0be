package ptx

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// Turns end only at branches: every loop has one.

// poll counts the loads of a warp that waits for a word to change.
type poll struct {
	// loads counts strong loads, and atomics that changed nothing, since the warp made
	// another load, or any warp of the launch wrote.
	loads  int
	writes int64 // of the launch, at the last of them
	in     *instr
	lane   int
	reg    *region
	off    int64
}

// maxPolls is the number of such loads after which the turn of a warp ends.
const maxPolls = 1 << 8

// loaded notes a load of global or shared memory by one lane.
func (w *warp) loaded(in *instr, lane int, r *region, off int64) {
	switch {
	case r.traffic < 0 && r != w.worker.shared: // local memory
	case !in.mem.strong:
		w.poll.loads = 0
	default:
		p := &w.poll
		if p.in != in || p.lane >= lane { // once for an instruction of the warp
			p.loads++
		}
		p.in, p.lane, p.reg, p.off = in, lane, r, off
	}
}

// fresh begins to count again if the launch has written since.
func (p *poll) fresh(writes int64) {
	if writes != p.writes {
		p.loads, p.writes = 0, writes
	}
}

// startTurn begins a turn of the warp.
func (w *warp) startTurn() {
	w.paused, w.turn = false, math.MaxInt64
	w.poll.fresh(w.worker.run.written())
	if t := w.worker.run.turns; t.length > 0 {
		w.turn = w.worker.counters.WarpInstructions + t.next(t.length)
	}
}

// turnEnded sets w.paused and returns it.
func (w *warp) turnEnded() bool {
	wk, p := w.worker, &w.poll
	if p.loads >= maxPolls {
		p.fresh(wk.run.written())
		w.paused = p.loads > 0
	}
	if wk.counters.WarpInstructions >= w.turn {
		w.paused = true
	}
	return w.paused
}

// written returns the number of writes of the launch: stores, and atomics that changed
// their word.
func (r *run) written() (n int64) {
	for _, wk := range r.all {
		n += wk.writes.Load()
	}
	return n
}

// Values of worker.stuckAt that are no number of writes.
const (
	notStuck = -1
	departed = -2 // the worker has no more blocks
)

// stuck is called when all warps of the block wait for words that none of them writes,
// after a given number of writes of the launch. It returns a fault if the blocks of all
// other workers are stuck as well.
func (wk *worker) stuck(writes int64) error {
	wk.stuckAt.Store(writes)
	for _, other := range wk.run.all {
		if at := other.stuckAt.Load(); at != writes && at != departed {
			runtime.Gosched()
			return nil
		}
	}
	if wk.run.written() != writes {
		return nil
	}
	i := 0
	for wk.warps[i].waiting != nil || len(wk.warps[i].groups) == 0 {
		i++
	}
	w := &wk.warps[i]
	p := &w.poll
	return w.fault(p.in, p.lane, p.reg.base+uint64(p.off), "deadlock: it waits for the word at offset %d of %s, which no block that has begun writes", p.off, p.reg.name)
}

// turns lets one worker run at a time, in random order. With length 0 all run at the
// same time.
type turns struct {
	length int64
	mu     sync.Mutex
	random *rand.Rand
	begin  *sync.Cond
	active []*worker
	now    *worker
	run    *run
}

func newTurns(r *run) *turns {
	t := &turns{length: r.launch.Turn, random: rand.New(rand.NewPCG(r.launch.Seed, 1)), active: slices.Clone(r.all), run: r}
	t.begin = sync.NewCond(&t.mu)
	t.choose()
	return t
}

// next returns a random number from 1 to n.
func (t *turns) next(n int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return 1 + t.random.Int64N(n)
}

// shuffle puts the warps of a block in the order of their next turns.
func (t *turns) shuffle(list []int) {
	if t.length > 0 {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
}

// choose gives a random worker the next turn.
func (t *turns) choose() {
	if len(t.active) > 0 {
		t.now = t.active[t.random.IntN(len(t.active))]
	}
	t.begin.Broadcast()
}

// pass ends the turn of a worker and waits for its next one. It returns false if the
// launch ended.
func (t *turns) pass(wk *worker) bool {
	if t.length == 0 {
		return !t.run.stop.Load()
	}
	t.mu.Lock()
	t.choose()
	t.mu.Unlock()
	return t.wait(wk)
}

// wait waits for the turn of a worker. It returns false if the launch ended.
func (t *turns) wait(wk *worker) bool {
	if t.length == 0 {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.now != wk {
		t.begin.Wait()
	}
	return !t.run.stop.Load()
}

// leave ends the last turn of a worker.
func (t *turns) leave(wk *worker) {
	wk.stuckAt.Store(departed)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active = slices.DeleteFunc(t.active, func(o *worker) bool { return o == wk })
	t.choose()
}
