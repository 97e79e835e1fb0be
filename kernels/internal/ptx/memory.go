package ptx

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
)

// Errors of Memory may wrap these.
var (
	ErrOutOfMemory = errors.New("out of memory")
	ErrAddress     = errors.New("no such memory")
)

// Addr is an address in the memory of a device.
type Addr uint64

const (
	firstAddr  = Addr(0x7000_0000_0000)
	allocAlign = 256 // alignment of allocations
	// guard is the least distance between allocations. It keeps an index that is
	// slightly out of range from hitting another allocation.
	guard = 4096
	// These are the windows of shared and local memory in the generic address space.
	sharedWindow = uint64(0x0100_0000_0000_0000)
	localWindow  = uint64(0x0200_0000_0000_0000)
	windowSize   = uint64(1) << 32
	// keepFreed is the number of freed allocations whose names are kept for faults.
	keepFreed = 1 << 12
)

// Memory is the global memory of one device. No address is used twice in a process, so
// that a fault can name a freed allocation, and a launch can read the memory of other
// devices. Any goroutine may call its methods; methods and launches on one Memory exclude
// each other.
type Memory struct {
	id       uint64 // the order in which a launch locks memories
	mu       sync.Mutex
	limit    int64
	used     int64
	regions  []*region // sorted by address, with freed ones
	freed    int
	launches uint32 // number of the last launch that used the memory
	stamp    uint32 // number of the last block that ran
	modules  map[*Module]map[*variable]Addr
}

var (
	memories  atomic.Uint64 // made so far
	addresses atomic.Uint64 // bytes of addresses that allocations of the process have taken
)

// NewMemory returns a memory of at most limit bytes; 0 means no limit.
func NewMemory(limit int64) *Memory {
	return &Memory{id: memories.Add(1), limit: limit, modules: map[*Module]map[*variable]Addr{}}
}

// Alloc allocates bytes. Reading a byte before it is written is a fault. Faults and
// counters show name. The address is a multiple of 256. An error wraps ErrOutOfMemory.
func (m *Memory) Alloc(name string, bytes int64) (Addr, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.alloc(name, bytes)
	if err != nil {
		return 0, err
	}
	return Addr(r.base), nil
}

func (m *Memory) alloc(name string, bytes int64) (*region, error) {
	if bytes < 0 || bytes > 1<<46 {
		return nil, fmt.Errorf("%w: %d bytes", ErrOutOfMemory, bytes)
	}
	if m.limit > 0 && bytes > m.limit-m.used {
		return nil, fmt.Errorf("%w: %d bytes, %d of %d are in use", ErrOutOfMemory, bytes, m.used, m.limit)
	}
	need := bytes + bytes/8 // a bit for each byte
	if have, ok := mem.Fits(need); !ok {
		return nil, fmt.Errorf("%w of the host: %d bytes take %d there, %d are available", ErrOutOfMemory, bytes, need, have)
	}
	takes := uint64(align(bytes, allocAlign) + guard)
	r := newRegion(name, uint64(firstAddr)+addresses.Add(takes)-takes, bytes)
	r.of = m
	m.used += bytes
	m.regions = append(m.regions, r)
	return r, nil
}

// Free frees an allocation of Alloc. An error wraps ErrAddress.
func (m *Memory) Free(a Addr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.find(uint64(a))
	if r == nil || r.base != uint64(a) || r.freed {
		return fmt.Errorf("%w: 0x%x is not the start of an allocation", ErrAddress, uint64(a))
	}
	m.used -= r.size
	r.release()
	if m.freed++; m.freed > keepFreed {
		m.regions = slices.DeleteFunc(m.regions, func(r *region) bool { return r.freed })
		m.freed = 0
	}
	return nil
}

// Rename renames the allocation that contains a.
func (m *Memory) Rename(a Addr, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.find(uint64(a)); r != nil && uint64(a)-r.base < uint64(r.size) {
		r.name = name
	}
}

// InUse returns the number of allocated bytes.
func (m *Memory) InUse() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Zero sets bytes bytes at a to zero.
func (m *Memory) Zero(a Addr, bytes int64) error {
	return m.host(a, bytes, func(r *region, off int64) {
		clear(r.data[off : off+bytes])
		r.markAll(off, bytes)
	})
}

// Write copies src to the device.
func (m *Memory) Write(a Addr, src []byte) error {
	return m.host(a, int64(len(src)), func(r *region, off int64) {
		copy(r.data[off:], src)
		r.markAll(off, int64(len(src)))
	})
}

// Read copies from the device to dst. Unwritten bytes read as zero.
func (m *Memory) Read(dst []byte, a Addr) error {
	return m.host(a, int64(len(dst)), func(r *region, off int64) { copy(dst, r.data[off:]) })
}

// Copy copies n bytes from address from of src to address to of m; src may be the
// memory of another device. Unwritten bytes stay unwritten.
func (m *Memory) Copy(to Addr, src *Memory, from Addr, n int64) error {
	var buf []byte
	var written func(i int64) bool
	all := false
	err := src.host(from, n, func(r *region, off int64) {
		buf = bytes.Clone(r.data[off : off+n])
		valid := slices.Clone(r.valid[off/64 : (off+n+63)/64])
		all = valid.all(off%64, n)
		written = func(i int64) bool { return valid.has(off%64+i, 1) }
	})
	if err != nil {
		return err
	}
	return m.host(to, n, func(r *region, off int64) {
		copy(r.data[off:], buf)
		if all {
			r.markAll(off, n)
			return
		}
		for i := range n {
			if written(i) {
				r.valid.set(off+i, 1)
			}
		}
	})
}

// host calls f with the region and the offset of bytes bytes at a.
func (m *Memory) host(a Addr, bytes int64, f func(r *region, off int64)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.find(uint64(a))
	switch {
	case bytes == 0:
		return nil
	case bytes < 0 || r == nil:
		return fmt.Errorf("%w: %d bytes at 0x%x", ErrAddress, bytes, uint64(a))
	case r.freed:
		return fmt.Errorf("%w: %d bytes at 0x%x, in %s, which was freed", ErrAddress, bytes, uint64(a), r.name)
	}
	past := uint64(a) - r.base
	if past >= uint64(r.size)+guard {
		return fmt.Errorf("%w: %d bytes at 0x%x", ErrAddress, bytes, uint64(a))
	}
	off := int64(past)
	if off > r.size || bytes > r.size-off {
		return fmt.Errorf("%w: bytes [%d, %d+%d) of %s, which has %d", ErrAddress, off, off, bytes, r.name, r.size)
	}
	f(r, off)
	return nil
}

// find returns the last region that begins at or before a, or nil.
func (m *Memory) find(a uint64) *region {
	i := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].base > a })
	if i == 0 {
		return nil
	}
	return m.regions[i-1]
}

// load allocates and initializes the variables of a module once.
func (m *Memory) load(mod *Module) (map[*variable]Addr, error) {
	if at, ok := m.modules[mod]; ok {
		return at, nil
	}
	names := make([]string, 0, len(mod.vars))
	for name, v := range mod.vars {
		if !v.shared {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	at := make(map[*variable]Addr, len(names))
	for _, name := range names {
		v := mod.vars[name]
		r, err := m.alloc(name, v.size)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
		copy(r.data, v.init)
		r.markAll(0, v.size)
		r.readOnly = v.readOnly
		m.used -= v.size // the variables count as the module's, not the caller's
		at[v] = Addr(r.base)
	}
	m.modules[mod] = at
	return at, nil
}

// region is one range of addresses: an allocation, the shared memory of a block, or the
// local memory of a thread.
type region struct {
	name     string
	of       *Memory // nil for shared and local memory
	base     uint64
	size     int64
	data     []byte
	valid    bitmap // bytes that have been written
	readOnly bool
	freed    bool
	races    *races
	traffic  int      // index in the counters of a launch, -1 for none
	sectors  []uint32 // the last block that accessed each sector
}

func newRegion(name string, base uint64, bytes int64) *region {
	return &region{name: name, base: base, size: bytes, data: mem.Aligned(bytes), valid: newBitmap(bytes), traffic: -1}
}

func (r *region) release() {
	r.freed, r.data, r.valid, r.races, r.sectors = true, nil, nil, nil, nil
}

func (r *region) markAll(off, n int64) {
	for n > 0 && off%64 != 0 {
		r.valid.set(off, 1)
		off, n = off+1, n-1
	}
	for ; n >= 64; off, n = off+64, n-64 {
		r.valid[off/64] = ^uint64(0)
	}
	for ; n > 0; off, n = off+1, n-1 {
		r.valid.set(off, 1)
	}
}
