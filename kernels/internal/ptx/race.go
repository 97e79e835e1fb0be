package ptx

import (
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
)

// races records, for each four bytes of a region, the last reader and writer: a thread
// of a block in shared memory, a block of the grid in global memory.
//
// In shared memory, two accesses of different warps race if no bar.sync lies between
// them, and two accesses of one warp if no bar.warp.sync does. In global memory, two
// accesses of different blocks race, unless the first block executed a fence and then
// an atomic on a variable on which the second block later executed an atomic. It is not
// checked that the first access lies before the fence.
type races struct {
	mu    sync.Mutex
	pages []*racePage
}

const (
	granule     = 4 // bytes of a cell
	pageGranule = 1024
)

type racePage [pageGranule]cell

// cell records the last accesses to four bytes. Masks have one bit for each byte. If
// several agents access different bytes of the four, only the last is recorded: a race
// on single bytes may be missed, but none is reported falsely.
type cell struct {
	epoch        uint32 // interval between barriers, or launch
	writer       int32
	reader       int32
	wrote        uint32 // step of the write
	read         uint32
	wmask, rmask uint8
	flags        uint8
}

const (
	atomicWrite uint8 = 1 << iota // the write was atomic
	atomicRead                    // the reads were atomic
	ncRead                        // a read was .nc
)

// manyAgents stands for several readers or writers.
const manyAgents = int32(-1)

// manyOf stands for several threads of warp w.
func manyOf(w int32) int32 { return -2 - w }

func newRaces(bytes int64) *races {
	return &races{pages: make([]*racePage, bytes/(granule*pageGranule)+1)}
}

// cell returns the cell of the bytes at off, or nil if the host has no memory for its
// page.
func (r *races) cell(off int64) *cell {
	g := off / granule
	p := r.pages[g/pageGranule]
	if p == nil {
		if _, ok := mem.Fits(int64(unsafe.Sizeof(*p))); !ok {
			return nil
		}
		p = new(racePage)
		r.pages[g/pageGranule] = p
	}
	return &p[g%pageGranule]
}

// visit is one access to check.
type visit struct {
	epoch   uint32
	agent   int32 // thread or block
	step    uint32
	synced  uint32 // step of the last bar.warp.sync of the warp
	write   bool
	atomic  bool
	nc      bool
	ordered func(writer int32) bool // reports an order by a fence and an atomic; nil in shared memory
}

// hazard is the kind of race that an access has.
type hazard uint8

const (
	noHazard hazard = iota
	readAfterWrite
	writeAfterWrite
	writeAfterRead
	ncAfterWrite
	writeAfterNC
	unknown // the host has no memory to record the access
)

// check records the access to n bytes at off and returns its hazard.
func (r *races) check(off int64, n int, v *visit) hazard {
	for n > 0 {
		in := int(off % granule)
		k := min(n, granule-in)
		c := r.cell(off)
		if c == nil {
			return unknown
		}
		if h := c.check(uint8(1<<k-1)<<in, v); h != noHazard {
			return h
		}
		off, n = off+int64(k), n-k
	}
	return noHazard
}

func (c *cell) check(bytes uint8, v *visit) hazard {
	if c.epoch != v.epoch {
		*c = cell{epoch: v.epoch}
	}
	if c.wmask&bytes != 0 {
		switch {
		case v.nc:
			return ncAfterWrite
		case v.atomic && c.flags&atomicWrite != 0:
		case v.conflicts(c.writer, c.wrote):
			if v.write {
				return writeAfterWrite
			}
			return readAfterWrite
		}
	}
	if !v.write {
		c.noteRead(bytes, v)
		return noHazard
	}
	if c.rmask&bytes != 0 {
		switch {
		case c.flags&ncRead != 0:
			return writeAfterNC
		case v.atomic && c.flags&atomicRead != 0:
		case v.conflicts(c.reader, c.read):
			return writeAfterRead
		}
	}
	if v.atomic && c.flags&atomicWrite != 0 && c.wmask == bytes {
		c.writer = v.join(c.writer)
	} else if c.writer != v.agent || c.wmask == 0 {
		c.writer, c.wmask = v.agent, 0
	}
	c.wmask |= bytes
	c.wrote = v.step
	if v.atomic {
		c.flags |= atomicWrite
	} else {
		c.flags &^= atomicWrite
	}
	return noHazard
}

// noteRead records a read. A plain read replaces an atomic one, because it races with
// more accesses.
func (c *cell) noteRead(bytes uint8, v *visit) {
	atomic := c.flags&atomicRead != 0
	switch {
	case c.rmask != 0 && v.atomic && !atomic:
		return
	case c.rmask == 0 || c.reader != v.agent && c.rmask != bytes || atomic && !v.atomic || v.follows(c.reader, c.read):
		c.reader, c.rmask = v.agent, bytes
	default:
		c.reader = v.join(c.reader)
		c.rmask |= bytes
	}
	c.read = v.step
	c.flags &^= atomicRead
	if v.atomic {
		c.flags |= atomicRead
	}
	if v.nc {
		c.flags |= ncRead
	}
}

// join returns agent combined with the agent of v.
func (v *visit) join(agent int32) int32 {
	switch {
	case agent == v.agent:
		return v.agent
	case v.ordered != nil || agent == manyAgents:
		return manyAgents
	case agent < 0 && agent == manyOf(v.agent/warpSize):
		return agent
	case agent >= 0 && agent/warpSize == v.agent/warpSize:
		return manyOf(v.agent / warpSize)
	}
	return manyAgents
}

// conflicts reports whether an access by another agent at some step is unordered with
// v.
func (v *visit) conflicts(other int32, step uint32) bool {
	if other == v.agent {
		return false
	}
	if v.ordered != nil {
		return !v.ordered(other)
	}
	if v.sameWarp(other) {
		return step > v.synced && step != v.step
	}
	return true
}

// sameWarp reports whether other is a thread, or several threads, of the warp of v.
func (v *visit) sameWarp(other int32) bool {
	return other >= 0 && other/warpSize == v.agent/warpSize || other == manyOf(v.agent/warpSize)
}

// follows reports whether a read of shared memory by other at some step lies before the last bar.warp.sync of the warp of
// v. Nothing that races with that read does not race with v too.
func (v *visit) follows(other int32, step uint32) bool {
	return v.ordered == nil && v.sameWarp(other) && step <= v.synced
}

// orders records which blocks see the writes of which others. A block that executes a
// fence and then an atomic on a variable releases its writes, and those that it has
// acquired. A block that executes an atomic on the same variable later acquires them.
type orders struct {
	mu       sync.Mutex
	fenced   map[int32]bool
	released map[uint64]map[int32]bool // by address: blocks whose writes are released there
	acquired map[int32]map[int32]bool  // by block: blocks whose writes it has acquired
}

func newOrders() *orders {
	return &orders{fenced: map[int32]bool{}, released: map[uint64]map[int32]bool{}, acquired: map[int32]map[int32]bool{}}
}

func (o *orders) fence(block int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fenced[block] = true
}

// atomic records an atomic of a block on a variable.
func (o *orders) atomic(block int32, addr uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rel := o.released[addr]
	if len(rel) > 0 {
		acq := o.acquired[block]
		if acq == nil {
			acq = map[int32]bool{}
			o.acquired[block] = acq
		}
		for b := range rel {
			acq[b] = true
		}
	}
	if o.fenced[block] {
		if rel == nil {
			rel = map[int32]bool{}
			o.released[addr] = rel
		}
		rel[block] = true
		for b := range o.acquired[block] {
			rel[b] = true
		}
	}
}

// knows reports whether block has acquired the writes of writer.
func (o *orders) knows(block, writer int32) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acquired[block][writer]
}
