package memory

import (
	"fmt"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// buffer is memory of a device, allocated or adopted. It stays valid until it is freed and no copy or kernel uses it.
type buffer struct {
	of     *Memory
	mem    []byte
	region *mem.Region // nil for adopted memory
	across []*Memory   // of the devices that count it in equal fractions; if none, of counts all of it
	spare  bool        // of keeps the memory for reuse when the buffer is freed
	freed  atomic.Bool
	users  atomic.Int64 // the owner and the calls in progress
}

func newBuffer(m *Memory, b []byte, r *mem.Region) *buffer {
	buf := &buffer{of: m, mem: b, region: r}
	buf.users.Store(1)
	return buf
}

func (b *buffer) Device() kernels.Device { return b.of.device }

func (b *buffer) Bytes() int64 { return int64(len(b.mem)) }

// Free releases the memory, at once or when the last kernel that uses it ends.
func (b *buffer) Free() error {
	if b.freed.Swap(true) {
		return nil
	}
	return b.release()
}

// hold keeps the memory valid until release. It returns false if the buffer was freed.
func (b *buffer) hold() bool {
	for {
		n := b.users.Load()
		if n == 0 || b.freed.Load() {
			return false
		}
		if b.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (b *buffer) release() error {
	if b.users.Add(-1) > 0 || b.region == nil {
		return nil
	}
	if b.across == nil {
		b.of.inUse.Add(-int64(len(b.mem)))
	}
	for i, d := range b.across {
		d.inUse.Add(-portionOf(int64(len(b.mem)), len(b.across), i))
	}
	var err error
	if b.spare {
		err = b.of.Spare.Keep(b.region, b.Bytes())
	} else {
		err = b.region.Free()
	}
	if err != nil {
		return b.of.Fail("free", b.Bytes(), err)
	}
	return nil
}

// AllocAcross returns zeroed memory whose pages alternate between the NUMA nodes of several devices; see
// cpu.AllocAcross.
func AllocAcross(bytes int64, across []*Memory, nodes []int) (kernels.Buffer, error) {
	taken := 0
	undo := func() {
		for i, m := range across[:taken] {
			m.inUse.Add(-portionOf(bytes, len(across), i))
		}
	}
	for i, m := range across {
		if err := m.Take(portionOf(bytes, len(across), i)); err != nil {
			undo()
			return nil, err
		}
		taken++
	}
	first := across[0]
	r, err := mem.New(bytes)
	if err != nil {
		undo()
		return nil, first.Fail("alloc", bytes, fmt.Errorf("%w: %w", kernels.ErrOutOfMemory, err))
	}
	if first.Pool.Placed && r.Mapped() {
		if err := numa.Interleave(r.Bytes(), nodes); err != nil {
			first.onRefused(err)
		}
	}
	b := newBuffer(first, r.Bytes(), r)
	b.across = across
	return b, nil
}

// portionOf returns the bytes that device i of n counts of a buffer across all of them.
func portionOf(bytes int64, n, i int) int64 { return par.Cut(bytes, n, i+1) - par.Cut(bytes, n, i) }
