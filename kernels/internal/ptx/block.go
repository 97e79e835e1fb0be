package ptx

import (
	"math/bits"
	"sync/atomic"
)

// vec is a register of a warp: one value for each lane.
type vec [warpSize]uint64

// worker runs blocks, one after the other. It reuses its buffers for the next block.
type worker struct {
	k        *Kernel
	run      *run
	warps    []warp
	block    [3]int64
	blockNum int32
	shared   *region
	inShared visit // template for checks of accesses to shared memory
	inGlobal visit
	step     uint32 // warp instructions with memory effects so far
	stamp    uint32 // number of this block, to count distinct sectors
	counted  int64  // warp instructions already added to those of the launch
	order    []int  // in which its warps take their turns
	writes   atomic.Int64
	stuckAt  atomic.Int64 // number of writes of all workers at which the block was stuck, or notStuck

	last      []*region // region that each instruction accessed last
	sectors   sectorSet
	pieces    sectorSet
	counters  Counters
	traffic   []BufferTraffic
	requested []uint32 // step of the last request, by buffer
}

func newWorker(r *run) *worker {
	wk := &worker{
		k: r.k, run: r, warps: make([]warp, r.warps()),
		shared: newRegion("shared memory", 0, r.shared),
		last:   make([]*region, len(r.k.code)), traffic: make([]BufferTraffic, len(r.live)),
		requested: make([]uint32, len(r.live)),
	}
	wk.shared.races = newRaces(r.shared)
	regs := make([]vec, len(wk.warps)*r.k.regs)
	preds := make([]uint32, len(wk.warps)*r.k.preds)
	for i := range wk.warps {
		n, p := r.k.regs, r.k.preds
		wk.order = append(wk.order, i)
		wk.warps[i] = warp{worker: wk, id: i, regs: regs[i*n : (i+1)*n], preds: preds[i*p : (i+1)*p], consts: r.consts}
	}
	wk.inGlobal = visit{epoch: r.epoch, ordered: func(writer int32) bool { return r.orders.knows(wk.blockNum, writer) }}
	return wk
}

// runBlock runs block number b.
func (wk *worker) runBlock(b int64) error {
	r := wk.run
	g := r.grid
	wk.block = [3]int64{b % g[0], b / g[0] % g[1], b / (g[0] * g[1])}
	wk.blockNum = int32(b)
	wk.inGlobal.agent = int32(b)
	clear(wk.shared.valid)
	wk.inShared.epoch++
	if r.workers == 1 {
		r.memory.stamp++
		wk.stamp = r.memory.stamp
	}
	for i := range wk.warps {
		wk.warps[i].start(min(r.threads-i*warpSize, warpSize))
	}
	wk.counters.Blocks++
	wk.counters.Warps += int64(len(wk.warps))
	wk.stuckAt.Store(notStuck)
	for {
		before := r.written()
		r.turns.shuffle(wk.order)
		for _, i := range wk.order {
			w := &wk.warps[i]
			if w.waiting != nil || len(w.groups) == 0 {
				continue
			}
			if err := w.execute(); err != nil {
				return err
			}
			if !r.turns.pass(wk) {
				return nil // another block ended the launch
			}
		}
		waiting, paused, stuck := 0, 0, 0
		for i := range wk.warps {
			w := &wk.warps[i]
			switch {
			case w.waiting != nil:
				waiting++
			case len(w.groups) > 0:
				paused++
				if w.poll.loads >= maxPolls {
					stuck++
				}
			}
		}
		switch {
		case paused > 0 && paused == stuck && r.written() == before:
			if err := wk.stuck(before); err != nil {
				return err
			}
		case paused > 0:
		case waiting == 0:
			return nil
		default:
			if err := wk.releaseBarriers(); err != nil {
				return err
			}
		}
	}
}

// releaseBarriers releases the warps that wait at a complete barrier. When it is
// called, every warp waits or has ended.
func (wk *worker) releaseBarriers() error {
	type arrival struct {
		warps, expected int
		count           uint32 // lanes with a true predicate
		total           uint32
	}
	arrived := map[uint64]*arrival{}
	for i := range wk.warps {
		w := &wk.warps[i]
		if w.waiting == nil {
			continue
		}
		a := arrived[w.barrier]
		if a == nil {
			a = &arrival{expected: len(wk.warps)}
			if w.threads > 0 {
				a.expected = int(w.threads+warpSize-1) / warpSize
			}
			arrived[w.barrier] = a
		}
		a.warps++
		a.count += uint32(bits.OnesCount32(w.vote))
		a.total += uint32(bits.OnesCount32(w.alive))
	}
	released := false
	for i := range wk.warps {
		w := &wk.warps[i]
		if w.waiting == nil {
			continue
		}
		if a := arrived[w.barrier]; a.warps >= a.expected {
			w.pass(a.count, a.total)
			released = true
		}
	}
	if released {
		wk.inShared.epoch++
		return nil
	}
	return wk.deadlock()
}

// deadlock returns the fault that names a waiting warp and the warp that does not
// arrive.
func (wk *worker) deadlock() error {
	var at, other *warp
	for i := range wk.warps {
		w := &wk.warps[i]
		switch {
		case w.waiting != nil && at == nil:
			at = w
		case w.waiting == nil || at != nil && w.barrier != at.barrier:
			other = w
		}
	}
	lane := bits.TrailingZeros32(at.alive)
	switch {
	case other == nil:
		return at.fault(at.waiting, lane, 0, "bar.sync %d waits for %d threads, more than reach it", at.barrier, at.threads)
	case other.waiting == nil:
		return at.fault(at.waiting, lane, 0, "bar.sync %d is not reached by warp %d of the block, which has ended", at.barrier, other.id)
	}
	return at.fault(at.waiting, lane, 0, "bar.sync %d is not reached by warp %d of the block, which waits at barrier %d in line %d",
		at.barrier, other.id, other.barrier, other.waiting.line)
}

// pass continues a warp after its barrier. count of the total threads voted yes.
func (w *warp) pass(count, total uint32) {
	in := w.waiting
	w.waiting = nil
	switch in.sync.mode {
	case "popc":
		d := &w.regs[in.dst]
		for l := range d {
			d[l] = uint64(count)
		}
	case "and":
		w.setPredicate(in.dst, w.alive, count == total)
	case "or":
		w.setPredicate(in.dst, w.alive, count > 0)
	}
}

// setPredicate sets predicate p to v in the lanes of m.
func (w *warp) setPredicate(p int32, m uint32, v bool) {
	w.preds[p] &^= m
	if v {
		w.preds[p] |= m
	}
}
