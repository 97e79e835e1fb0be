package ptx

import (
	"math"
	"math/bits"
)

// warp is the state of 32 lanes. Lanes with the same program counter form a group.
type warp struct {
	worker *worker
	id     int
	regs   []vec
	preds  []uint32
	consts []vec
	groups []group // sorted by program counter
	alive  uint32  // lanes that have not exited
	exited uint32
	synced uint32 // step of the last bar.warp.sync
	locals []*region

	turn   int64 // warp instructions of the worker at which the warp's turn ends
	paused bool  // its turn has ended
	poll   poll

	waiting *instr // barrier at which the warp waits
	barrier uint64
	threads uint64
	vote    uint32
}

// group is a set of lanes that execute together.
type group struct {
	pc   int32
	mask uint32
}

// start resets the warp for a block, with n lanes.
func (w *warp) start(n int) {
	w.alive = uint32(mask(4)) >> (warpSize - n)
	w.exited, w.waiting, w.poll = 0, nil, poll{}
	w.groups = append(w.groups[:0], group{0, w.alive})
	clear(w.regs)
	clear(w.preds)
	for _, l := range w.locals {
		if l != nil {
			clear(l.valid)
		}
	}
}

// thread returns the coordinates of a lane in its block.
func (w *warp) thread(lane int) [3]int64 {
	t, d := int64(w.id*warpSize+lane), w.worker.run.block
	return [3]int64{t % d[0], t / d[0] % d[1], t / (d[0] * d[1])}
}

// number returns the index of the lane in its block.
func (w *warp) number(lane int) int32 { return int32(w.id*warpSize + lane) }

// source returns the value of an operand.
func (w *warp) source(i int32) *vec {
	if i >= 0 {
		return &w.regs[i]
	}
	return &w.consts[^i]
}

// add puts lanes at pc, into the group at pc if there is one.
func (w *warp) add(pc int32, m uint32) {
	if m == 0 {
		return
	}
	i := len(w.groups)
	for i > 0 && w.groups[i-1].pc > pc {
		i--
	}
	if i > 0 && w.groups[i-1].pc == pc {
		w.groups[i-1].mask |= m
		return
	}
	w.groups = append(w.groups, group{})
	copy(w.groups[i+1:], w.groups[i:])
	w.groups[i] = group{pc, m}
}

// execute runs the warp until all its lanes have exited, it waits at a barrier, or its
// turn ends.
func (w *warp) execute() error {
	w.startTurn()
	for len(w.groups) > 0 && w.waiting == nil && !w.paused {
		g := w.groups[0]
		w.groups = w.groups[:copy(w.groups, w.groups[1:])]
		if err := w.executeGroup(g.pc, g.mask); err != nil {
			return err
		}
	}
	return w.worker.report()
}

// report adds the worker's instructions to those of the launch, and returns a fault if
// the launch exceeds MaxInstructions.
func (wk *worker) report() error {
	n := wk.counters.WarpInstructions
	if total := wk.run.counted.Add(n - wk.counted); total > wk.run.limit {
		return wk.warps[0].fault(&wk.k.code[0], 0, 0, "the launch takes more than %d warp instructions", wk.run.limit)
	}
	wk.counted = n
	return nil
}

// reportEvery is the number of instructions after which a worker reports.
const reportEvery = 1 << 16

// executeGroup runs the lanes of m, which have the least program counter of the warp,
// from pc until they diverge or reach the program counter of other lanes.
func (w *warp) executeGroup(pc int32, m uint32) error {
	wk := w.worker
	code, counters, watch := wk.k.code, &wk.counters, wk.run.watch
	limit := int32(math.MaxInt32)
	if len(w.groups) > 0 {
		limit = w.groups[0].pc
	}
	for pc < limit {
		in := &code[pc]
		if pc == watch {
			wk.run.iterations[int64(wk.blockNum)*int64(len(wk.warps))+int64(w.id)]++
		}
		if in.op == opJump {
			pc = in.target
			continue
		}
		act := w.guarded(in, m)
		counters.WarpInstructions++
		if in.op == opBranch {
			next, err := w.branch(in, pc, m, act)
			switch {
			case err != nil || next == diverged:
				return err
			case w.turnEnded():
				w.add(next, m)
				return nil
			}
			pc = next
			continue
		}
		counters.ThreadInstructions += int64(bits.OnesCount32(act))
		pc++
		if act == 0 {
			continue
		}
		switch in.op {
		case opUnary, opBinary, opTernary, opQuaternary:
			w.calculate(in, act)
		case opExit:
			m &^= act
			w.alive &^= act
			w.exited |= act
			if m == 0 {
				return nil
			}
		case opBarrier:
			err := w.arrive(in, m, act)
			w.add(pc, m)
			return err
		default:
			if err := w.perform(in, pc-1, act); err != nil {
				return err
			}
		}
	}
	w.add(pc, m)
	return nil
}

// guarded returns the lanes of m in which the guard of an instruction is true.
func (w *warp) guarded(in *instr, m uint32) uint32 {
	if in.guard < 0 {
		return m
	}
	if in.unless {
		return m &^ w.preds[in.guard]
	}
	return m & w.preds[in.guard]
}

// diverged is the next program counter of lanes that diverge.
const diverged = -1

// branch executes a branch at pc for the lanes of m; those of act take it. It returns
// the next program counter of all of them, or diverged. Every loop has a branch, so
// branch also reports instructions: this ends a launch that runs too long.
func (w *warp) branch(in *instr, pc int32, m, act uint32) (next int32, err error) {
	c := &w.worker.counters
	c.Branches++
	c.ThreadInstructions += int64(bits.OnesCount32(m))
	if c.WarpInstructions-w.worker.counted > reportEvery {
		if err := w.worker.report(); err != nil {
			return diverged, err
		}
	}
	switch act {
	case m:
		return in.target, nil
	case 0:
		return pc + 1, nil
	}
	c.DivergentBranches++
	w.add(pc+1, m&^act)
	w.add(in.target, act)
	w.turnEnded()
	return diverged, nil
}

// perform executes any other instruction in the lanes of m.
func (w *warp) perform(in *instr, pc int32, m uint32) error {
	switch in.op {
	case opSetPredicate:
		w.compare(in, m)
	case opSelect:
		d, a, b, p := &w.regs[in.dst], w.source(in.a), w.source(in.b), w.preds[in.pred]
		cut := mask(in.size)
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if p>>l&1 != 0 {
				d[l] = a[l] & cut
			} else {
				d[l] = b[l] & cut
			}
		}
	case opPredicate:
		v := in.logic(w.predicate(in.a), w.predicate(in.b))
		w.preds[in.dst] = w.preds[in.dst]&^m | v&m
	case opSpecial:
		d := &w.regs[in.dst]
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = in.special(w, l)
		}
	case opPack:
		w.pack(in, m)
	case opUnpack:
		w.unpack(in, m)
	case opLoad:
		return w.load(in, pc, m)
	case opStore:
		return w.store(in, pc, m)
	case opAtomic:
		return w.atomic(in, pc, m)
	case opShuffle:
		return w.shuffle(in, m)
	case opVote:
		return w.castVote(in, m)
	case opMatch:
		return w.match(in, m)
	case opActiveMask:
		d := &w.regs[in.dst]
		for a := m; a != 0; a &= a - 1 {
			d[bits.TrailingZeros32(a)] = uint64(m)
		}
	case opWarpBarrier:
		if err := w.members(in, m); err != nil {
			return err
		}
		w.worker.step++
		w.synced = w.worker.step
	case opFence:
		if in.size == 1 {
			w.worker.run.orders.fence(w.worker.blockNum)
		}
	case opTrap:
		return w.fault(in, bits.TrailingZeros32(m), 0, "trap")
	}
	return nil
}
