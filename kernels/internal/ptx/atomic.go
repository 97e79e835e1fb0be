package ptx

import (
	"math/bits"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
)

// atomic executes atom and red, one lane after the other.
func (w *warp) atomic(in *instr, pc int32, m uint32) error {
	a, wk := in.mem, w.worker
	base, x, y := w.source(in.a), w.source(in.b), w.source(in.c)
	wk.step++
	v := visit{step: wk.step, write: true, atomic: true}
	t := w.newTally(atomicRequest, a.size)
	count := bits.OnesCount32(m)
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		addr := base[l] + uint64(a.offset)
		r, off, err := w.place(in, pc, l, addr, a.size, "atomic")
		switch {
		case err != nil:
			return err
		case r.readOnly:
			return w.badAccess(in, l, addr, "atomic on %d bytes at offset %d of %s, which is constant", a.size, off, r.name)
		case r != wk.shared && r.traffic < 0:
			return w.badAccess(in, l, addr, "atomic on local memory")
		case !r.valid.has(off, a.size) && !wk.run.launch.AllowUnwritten:
			return w.badAccess(in, l, addr, "atomic on %d bytes at offset %d of %s, before they are written", a.size, off, r.name)
		}
		if err := w.checkRace(in, l, r, off, a.size, v, "atomic"); err != nil {
			return err
		}
		t.touch(r, off)
		if r != wk.shared && wk.k.fences {
			wk.run.orders.atomic(wk.blockNum, addr)
		}
		f := a.beyond
		if r == wk.shared {
			f = a.update
		}
		old := update(r.data[off:], a.size, f, x[l], y[l])
		if f(old, x[l], y[l]) != old {
			wk.writes.Add(1)
		} else {
			w.loaded(in, l, r, off)
		}
		if in.dst >= 0 {
			w.regs[in.dst][l] = old
		}
	}
	t.done(count)
	return nil
}

// update changes the first word of b to f(old, x, y) atomically and returns the old
// value.
func update(b []byte, size int, f func(old, x, y uint64) uint64, x, y uint64) uint64 {
	for {
		old := readStrong(b, size)
		if swap(b, size, old, f(old, x, y)) {
			return old
		}
	}
}

// readStrong, writeStrong and swap access words of 4 and 8 bytes atomically.

func readStrong(b []byte, size int) uint64 {
	switch size {
	case 4:
		s, _ := mem.Slice[int32](b, 1)
		return uint64(uint32(atomic.LoadInt32(&s[0])))
	case 8:
		s, _ := mem.Slice[int64](b, 1)
		return uint64(atomic.LoadInt64(&s[0]))
	}
	return read(b, size)
}

func writeStrong(b []byte, size int, v uint64) {
	switch size {
	case 4:
		s, _ := mem.Slice[int32](b, 1)
		atomic.StoreInt32(&s[0], int32(v))
	case 8:
		s, _ := mem.Slice[int64](b, 1)
		atomic.StoreInt64(&s[0], int64(v))
	default:
		write(b, size, v)
	}
}

func swap(b []byte, size int, old, v uint64) bool {
	if size == 4 {
		s, _ := mem.Slice[int32](b, 1)
		return atomic.CompareAndSwapInt32(&s[0], int32(old), int32(v))
	}
	s, _ := mem.Slice[int64](b, 1)
	return atomic.CompareAndSwapInt64(&s[0], int64(old), int64(v))
}
