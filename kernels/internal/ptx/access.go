package ptx

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// sectorBytes is the size of the unit in which a device moves global memory.
const sectorBytes = 32

// pieceBytes is the size of the unit of a request to the second-level cache.
const pieceBytes = 64

// place finds the region and the offset of one access. It checks that the access is
// aligned and inside the region.
func (w *warp) place(in *instr, pc int32, lane int, addr uint64, n int, verb string) (*region, int64, error) {
	if addr%uint64(n) != 0 {
		return nil, 0, w.badAccess(in, lane, addr, "%s of %d bytes at 0x%x, which is not a multiple of %d", verb, n, addr, n)
	}
	wk := w.worker
	space := in.mem.space
	if space == genericSpace {
		switch {
		case addr-sharedWindow < windowSize:
			space, addr = sharedSpace, addr-sharedWindow
		case addr-localWindow < windowSize:
			space, addr = localSpace, addr-localWindow
		}
	}
	var r *region
	switch space {
	case sharedSpace:
		r = wk.shared
	case localSpace:
		r = w.local(lane)
	default:
		r = wk.last[pc]
		if r == nil || addr-r.base >= uint64(r.size) {
			r = wk.run.find(addr)
			if r == nil || r.freed {
				return nil, 0, w.noMemory(in, lane, addr, n, verb, r)
			}
			if r.of != wk.run.memory && verb != "load" {
				return nil, 0, w.badAccess(in, lane, addr, "%s of %d bytes at offset %d of %s, which is memory of another device", verb, n, addr-r.base, r.name)
			}
			wk.last[pc] = r
		}
	}
	off := addr - r.base
	if off >= uint64(r.size) || uint64(n) > uint64(r.size)-off {
		return nil, 0, w.badAccess(in, lane, addr, "%s of %d bytes at offset %d of %s, which has %d", verb, n, int64(off), r.name, r.size)
	}
	return r, int64(off), nil
}

// noMemory returns the fault of an access to an address without an allocation, or to a
// freed allocation.
func (w *warp) noMemory(in *instr, lane int, addr uint64, n int, verb string, r *region) error {
	if r != nil && addr-r.base < uint64(r.size) {
		return w.badAccess(in, lane, addr, "%s of %d bytes at offset %d of %s, which was freed", verb, n, addr-r.base, r.name)
	}
	return w.badAccess(in, lane, addr, "%s of %d bytes at 0x%x, where no memory is allocated", verb, n, addr)
}

// local returns the local memory of a lane.
func (w *warp) local(lane int) *region {
	if w.locals == nil {
		w.locals = make([]*region, warpSize)
	}
	if w.locals[lane] == nil {
		w.locals[lane] = newRegion("local memory", 0, w.worker.k.local)
	}
	return w.locals[lane]
}

// checkRace records the access and returns an error if it races with an earlier one.
func (w *warp) checkRace(in *instr, lane int, r *region, off int64, n int, v visit, verb string) error {
	if r.races == nil || w.worker.run.launch.AllowRaces {
		return nil
	}
	var h hazard
	if r == w.worker.shared {
		v.epoch, v.agent, v.synced = w.worker.inShared.epoch, w.number(lane), w.synced
		h = r.races.check(off, n, &v)
	} else {
		g := &w.worker.inGlobal
		v.epoch, v.agent, v.ordered = g.epoch, g.agent, g.ordered
		if w.worker.run.workers > 1 {
			r.races.mu.Lock()
			defer r.races.mu.Unlock()
		}
		h = r.races.check(off, n, &v)
	}
	who := "another block"
	if r == w.worker.shared {
		who = "another thread, with no barrier in between"
	}
	addr := r.base + uint64(off)
	switch h {
	case readAfterWrite, writeAfterWrite:
		return w.fault(in, lane, addr, "race: %s at offset %d of %s, which was written by %s", verb, off, r.name, who)
	case writeAfterRead:
		return w.fault(in, lane, addr, "race: %s at offset %d of %s, which was read by %s", verb, off, r.name, who)
	case ncAfterWrite:
		return w.fault(in, lane, addr, ".nc load at offset %d of %s, which this launch writes", off, r.name)
	case writeAfterNC:
		return w.fault(in, lane, addr, "%s at offset %d of %s, which this launch reads by .nc loads", verb, off, r.name)
	case unknown:
		return fmt.Errorf("%w of the host: to find races in %s, of %d bytes, takes six times as many", ErrOutOfMemory, r.name, r.size)
	}
	return nil
}

// load executes ld.
func (w *warp) load(in *instr, pc int32, m uint32) error {
	a, wk := in.mem, w.worker
	base := w.source(in.a)
	n := a.size * len(in.vec)
	if a.space == paramSpace {
		return w.loadParam(in, m)
	}
	wk.step++
	v := visit{step: wk.step, atomic: a.strong, nc: a.nc}
	t := w.newTally(loadRequest, n)
	count := bits.OnesCount32(m)
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		addr := base[l] + uint64(a.offset)
		r, off, err := w.place(in, pc, l, addr, n, "load")
		if err != nil {
			return err
		}
		if !r.valid.has(off, n) && !wk.run.launch.AllowUnwritten {
			return w.badAccess(in, l, addr, "load of %d bytes at offset %d of %s, before they are written", n, off, r.name)
		}
		if err := w.checkRace(in, l, r, off, n, v, "load"); err != nil {
			return err
		}
		t.touch(r, off)
		w.loaded(in, l, r, off)
		for i, reg := range in.vec {
			if reg == noRegister {
				continue
			}
			at := r.data[off+int64(i*a.size):]
			x := uint64(0)
			if a.strong {
				x = readStrong(at, a.size)
			} else {
				x = read(at, a.size)
			}
			if a.signed {
				x = signExtend(x, a.size) & mask(a.regSize[i])
			}
			w.regs[reg][l] = x
		}
	}
	t.done(count)
	return nil
}

// loadParam executes ld.param. Parameters lie in a memory of their own.
func (w *warp) loadParam(in *instr, m uint32) error {
	a := in.mem
	base, params := w.source(in.a), w.worker.run.params
	n := a.size * len(in.vec)
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		off := base[l] + uint64(a.offset)
		switch {
		case off%uint64(n) != 0:
			return w.badAccess(in, l, off, "load of %d bytes at offset %d of the parameters, which is not a multiple of %d", n, off, n)
		case off >= uint64(len(params)) || uint64(n) > uint64(len(params))-off:
			return w.badAccess(in, l, off, "load of %d bytes at offset %d of the parameters, which have %d", n, off, len(params))
		}
		for i, reg := range in.vec {
			if reg == noRegister {
				continue
			}
			var x uint64
			for j := range a.size {
				x |= uint64(params[int(off)+i*a.size+j]) << (8 * j)
			}
			if a.signed {
				x = signExtend(x, a.size) & mask(a.regSize[i])
			}
			w.regs[reg][l] = x
		}
	}
	return nil
}

// store executes st.
func (w *warp) store(in *instr, pc int32, m uint32) error {
	a, wk := in.mem, w.worker
	base := w.source(in.a)
	n := a.size * len(in.vec)
	wk.step++
	v := visit{step: wk.step, write: true, atomic: a.strong}
	t := w.newTally(storeRequest, n)
	count := bits.OnesCount32(m)
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		addr := base[l] + uint64(a.offset)
		r, off, err := w.place(in, pc, l, addr, n, "store")
		if err != nil {
			return err
		}
		if r.readOnly {
			return w.badAccess(in, l, addr, "store of %d bytes at offset %d of %s, which is constant", n, off, r.name)
		}
		if err := w.checkRace(in, l, r, off, n, v, "store"); err != nil {
			return err
		}
		t.touch(r, off)
		r.valid.set(off, n)
		for i, e := range in.vec {
			at, x := r.data[off+int64(i*a.size):], w.source(e)[l]
			if a.strong {
				writeStrong(at, a.size, x)
			} else {
				write(at, a.size, x)
			}
		}
	}
	// The store counts once its words are there. Otherwise a block that polls in between, and does not see them yet, would
	// be marked as stuck at this number of writes also after it has seen them.
	wk.writes.Add(1)
	t.done(count)
	return nil
}

// read and write move the first size bytes of b, in the byte order of this machine.
func read(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

func write(b []byte, size int, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.NativeEndian.PutUint16(b, uint16(v))
	case 4:
		binary.NativeEndian.PutUint32(b, uint32(v))
	default:
		binary.NativeEndian.PutUint64(b, v)
	}
}
