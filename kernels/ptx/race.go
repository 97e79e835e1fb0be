package ptx

import (
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
)

// races remembers, for each four bytes of a region, who read and wrote them
// last: a thread of a block in shared memory, a block of the grid in global
// memory.
//
// In shared memory, two accesses of different warps race when no bar.sync lies
// between them, two of one warp when no bar.warp.sync does. In global memory two
// accesses of different blocks race, unless the first block executed a fence and
// then an atomic on a variable on which the second executed an atomic later. That
// the access of the first block lies before its fence is not checked.
type races struct {
	mu    sync.Mutex
	pages []*racePage
}

const (
	granule     = 4 // bytes of a cell
	pageGranule = 1024
)

type racePage [pageGranule]cell

// cell is the last accesses to four bytes. Masks have a bit for each byte. Where
// several agents touch different bytes of the four, only the last is remembered:
// a race on single bytes may be missed, but none is made up.
type cell struct {
	epoch        uint32 // interval between barriers, or launch
	writer       int32
	reader       int32
	wrote        uint32 // instruction count of the worker then
	read         uint32
	wmask, rmask uint8
	flags        uint8
}

const (
	atomicWrite uint8 = 1 << iota // the write was atomic
	atomicRead                    // the reads were atomic
	ncRead                        // a read was .nc
)

// manyAgents is a reader or writer that is not one alone.
const manyAgents = int32(-1)

// manyOf is the threads of warp w.
func manyOf(w int32) int32 { return -2 - w }

func newRaces(bytes int64) *races {
	return &races{pages: make([]*racePage, bytes/(granule*pageGranule)+1)}
}

// cell is that of the bytes at off; nil where memory lacks for its page.
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

// visit is one access to be checked.
type visit struct {
	epoch   uint32
	agent   int32 // thread or block
	step    uint32
	synced  uint32 // step of the last bar.warp.sync of the warp
	write   bool
	atomic  bool
	nc      bool
	ordered func(writer int32) bool // by a fence and an atomic; nil in shared memory
}

// hazard is what an access collides with.
type hazard uint8

const (
	noHazard hazard = iota
	readAfterWrite
	writeAfterWrite
	writeAfterRead
	ncAfterWrite
	writeAfterNC
	unknown // memory lacks to tell
)

// check records the access to n bytes at off and says what it collides with.
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

// noteRead remembers a read. Plain reads are remembered rather than atomic ones: they
// race with more.
func (c *cell) noteRead(bytes uint8, v *visit) {
	atomic := c.flags&atomicRead != 0
	switch {
	case c.rmask != 0 && v.atomic && !atomic:
		return
	case c.rmask == 0 || c.reader != v.agent && c.rmask != bytes || atomic && !v.atomic:
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

// join is the agents that are known with v's added.
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

// conflicts says whether an access by another agent at some step is unordered
// with v.
func (v *visit) conflicts(other int32, step uint32) bool {
	if other == v.agent {
		return false
	}
	if v.ordered != nil {
		return !v.ordered(other)
	}
	sameWarp := other >= 0 && other/warpSize == v.agent/warpSize || other == manyOf(v.agent/warpSize)
	if sameWarp {
		return step > v.synced && step != v.step
	}
	return true
}
