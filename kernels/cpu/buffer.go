package cpu

import (
	"fmt"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// buffer is memory of a device, allocated or adopted. It stays valid until it is freed and no copy or kernel uses it.
type buffer struct {
	dev    *Device
	mem    []byte
	region *mem.Region // nil for adopted memory
	across []*Device   // the devices that count it in equal fractions; if none, dev counts all of it
	spare  bool        // dev keeps the memory for reuse when the buffer is freed
	freed  atomic.Bool
	users  atomic.Int64 // the owner and the calls in progress
}

func newBuffer(d *Device, b []byte, r *mem.Region) *buffer {
	buf := &buffer{dev: d, mem: b, region: r}
	buf.users.Store(1)
	return buf
}

func (b *buffer) Device() kernels.Device { return b.dev }

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
		b.dev.inUse.Add(-int64(len(b.mem)))
	}
	for i, d := range b.across {
		d.inUse.Add(-portionOf(int64(len(b.mem)), len(b.across), i))
	}
	var err error
	if b.spare {
		err = b.dev.spare.Keep(b.region, b.Bytes())
	} else {
		err = b.region.Free()
	}
	if err != nil {
		return b.dev.fail("free", b.Bytes(), err)
	}
	return nil
}

// region allocates memory on the node of the device.
func (d *Device) region(bytes int64) (*mem.Region, error) { return d.bound(mem.New(bytes)) }

// reserve returns addresses for room bytes on the node of the device, about need of which will be used. It reuses
// memory that the device kept, if there is any: the first touched bytes then have pages and are counted. It returns
// nil where no addresses are available.
func (d *Device) reserve(need, room int64) (r *mem.Region, touched int64) {
	if r, touched = d.spare.Take(need, room); r != nil {
		if d.count(touched) == nil {
			return r, touched
		}
		_ = r.Free()
	}
	r, _ = d.bound(mem.Reserve(room))
	return r, 0
}

// bound binds a region to the node of the device.
func (d *Device) bound(r *mem.Region, err error) (*mem.Region, error) {
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kernels.ErrOutOfMemory, err)
	}
	if d.pool.placed && d.info.NUMANode >= 0 && r.Mapped() {
		if err := numa.Bind(r.Bytes(), d.info.NUMANode); err != nil {
			d.onRefused(err) // the workers touch it first, which is as good if they are pinned
		}
	}
	return r, nil
}
