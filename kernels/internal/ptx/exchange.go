package ptx

import (
	"math"
	"math/bits"
)

// members checks the member masks of a .sync instruction that the lanes of m execute. A
// lane's mask must name the lane itself, and only lanes of m. Waiting for further lanes
// is useless: lanes with a lower program counter run first, so a lane that is not in m
// has passed this instruction.
func (w *warp) members(in *instr, m uint32) error {
	member := w.source(in.sync.mask)
	for n := m; n != 0; n &= n - 1 {
		l := bits.TrailingZeros32(n)
		named := uint32(member[l])
		if named>>l&1 == 0 {
			return w.fault(in, l, 0, "the mask 0x%08x does not name the lane %d that executes it", named, l)
		}
		absent := named &^ m
		switch {
		case absent == 0:
		case absent&w.exited != 0:
			return w.fault(in, l, 0, "the mask 0x%08x names lanes %s, which have exited", named, lanes(absent&w.exited))
		case absent&w.alive != 0:
			return w.fault(in, l, 0, "the mask 0x%08x names lanes %s, which do not execute it", named, lanes(absent&w.alive))
		default:
			return w.fault(in, l, 0, "the mask 0x%08x names lanes %s, which the block does not have", named, lanes(absent))
		}
	}
	return nil
}

// undefined is what a lane receives from a lane that does not take part. It is a NaN,
// both as a float32 and as half of a float64.
const undefined = math.MaxUint32

// shuffle executes shfl.sync. Operand c has the clamp in its low five bits and the
// segment mask in bits 8 to 12.
func (w *warp) shuffle(in *instr, m uint32) error {
	if err := w.members(in, m); err != nil {
		return err
	}
	w.worker.counters.Shuffles++
	a, b, c := *w.source(in.a), *w.source(in.b), w.source(in.c)
	d := &w.regs[in.dst]
	var valid uint32
	for n := m; n != 0; n &= n - 1 {
		l := bits.TrailingZeros32(n)
		by, clamp, seg := int(b[l]&31), int(c[l]&31), int(c[l]>>8&31)
		last := l&seg | clamp&^seg
		first := l & seg
		from := l
		ok := false
		switch in.sync.mode {
		case "up":
			from = l - by
			ok = from >= last
		case "down":
			from = l + by
			ok = from <= last
		case "bfly":
			from = l ^ by
			ok = from <= last
		case "idx":
			from = first | by&^seg
			ok = from <= last
		}
		switch {
		case !ok:
			d[l] = a[l] & mask(4)
		case m>>from&1 == 0:
			d[l] = undefined
		default:
			d[l] = a[from] & mask(4)
		}
		if ok {
			valid |= 1 << l
		}
	}
	if p := in.sync.result; p >= 0 {
		w.preds[p] = w.preds[p]&^m | valid
	}
	return nil
}

// castVote executes vote.sync among the lanes that the mask of each lane names.
func (w *warp) castVote(in *instr, m uint32) error {
	if err := w.members(in, m); err != nil {
		return err
	}
	w.worker.counters.Shuffles++
	p := w.predicate(in.pred)
	if in.sync.negated {
		p = ^p
	}
	member := w.source(in.sync.mask)
	var result uint32
	for n := m; n != 0; n &= n - 1 {
		l := bits.TrailingZeros32(n)
		named := uint32(member[l])
		yes := p & named
		ok := false
		switch in.sync.mode {
		case "ballot":
			w.regs[in.dst][l] = uint64(yes)
		case "all":
			ok = yes == named
		case "any":
			ok = yes != 0
		case "uni":
			ok = yes == named || yes == 0
		}
		if ok {
			result |= 1 << l
		}
	}
	if in.sync.mode != "ballot" {
		w.preds[in.dst] = w.preds[in.dst]&^m | result
	}
	return nil
}

// match executes match.sync: it returns the lanes of the mask that hold the same value.
// Mode all returns every lane of the mask or none.
func (w *warp) match(in *instr, m uint32) error {
	if err := w.members(in, m); err != nil {
		return err
	}
	w.worker.counters.Shuffles++
	a, member := *w.source(in.a), *w.source(in.sync.mask)
	cut := mask(in.sync.size)
	var every uint32
	for n := m; n != 0; n &= n - 1 {
		l := bits.TrailingZeros32(n)
		named := uint32(member[l])
		var same uint32
		for o := named; o != 0; o &= o - 1 {
			if j := bits.TrailingZeros32(o); a[j]&cut == a[l]&cut {
				same |= 1 << j
			}
		}
		if same == named {
			every |= 1 << l
		} else if in.sync.mode == "all" {
			same = 0
		}
		w.regs[in.dst][l] = uint64(same)
	}
	if p := in.sync.result; p >= 0 {
		w.preds[p] = w.preds[p]&^m | every
	}
	return nil
}

// arrive makes the warp wait at a barrier of the block. The lanes of m are at the
// barrier; the guard is true in the lanes of act.
func (w *warp) arrive(in *instr, m, act uint32) error {
	l := bits.TrailingZeros32(act)
	switch {
	case act != m:
		return w.fault(in, l, 0, "bar.sync in divergent code: its guard is false in lanes %s", lanes(m&^act))
	case m != w.alive:
		return w.fault(in, l, 0, "bar.sync in divergent code: lanes %s do not execute it", lanes(w.alive&^m))
	case w.exited != 0:
		return w.fault(in, l, 0, "bar.sync is not reached by lanes %s of the warp, which have exited", lanes(w.exited))
	}
	id, n := w.source(in.a)[l], w.source(in.b)[l]
	if id > 15 {
		return w.fault(in, l, 0, "barrier %d: a block has barriers 0 to 15", id)
	}
	if n%warpSize != 0 {
		return w.fault(in, l, 0, "a barrier for %d threads, which is not a multiple of %d", n, warpSize)
	}
	w.worker.counters.Barriers++
	w.waiting, w.barrier, w.threads, w.vote = in, id, n, 0
	if in.pred != -1 {
		w.vote = w.predicate(in.pred)
		if in.sync.negated {
			w.vote = ^w.vote
		}
		w.vote &= m
	}
	return nil
}
