package sim

import (
	"fmt"
	"sync"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda"
	"github.com/msrep-go/msrep/kernels/ptx"
	"github.com/msrep-go/msrep/sparse"
)

// modules is the families that were read, by name.
var modules sync.Map

// module reads the PTX of a family, once.
func module(family string) (*ptx.Module, error) {
	if m, ok := modules.Load(family); ok {
		return m.(*ptx.Module), nil
	}
	text, err := cuda.PTX(family)
	if err != nil {
		return nil, err
	}
	m, err := ptx.Parse(family+".ptx", text)
	if err != nil {
		return nil, err
	}
	kept, _ := modules.LoadOrStore(family, m)
	return kept.(*ptx.Module), nil
}

// call runs kernels of one operation, holds the memory that they need in between,
// and keeps the first error.
type call struct {
	dev  *Device
	temp []ptx.Addr
	err  error
}

// free releases the memory in between.
func (c *call) free() {
	for _, a := range c.temp {
		if err := c.dev.mem.Free(a); err != nil && c.err == nil {
			c.err = err
		}
	}
}

// scratch allocates n elements with any content.
func scratch[T mem.Elem](c *call, name string, n int64) ptx.Addr {
	if c.err != nil {
		return 0
	}
	a, err := c.dev.mem.Alloc(name, n*mem.Size[T]())
	if err != nil {
		c.err = err
		return 0
	}
	c.temp = append(c.temp, a)
	return a
}

// array is the address of an array of n elements on the device. Its allocation
// takes the name.
func array[T mem.Elem](c *call, name string, a kernels.Array[T], n int64) ptx.Addr {
	if c.err != nil {
		return 0
	}
	if a.Len != n {
		c.err = fmt.Errorf("%w: %s has %d elements, it needs %d", kernels.ErrArgument, name, a.Len, n)
		return 0
	}
	if a.Buf == nil && n == 0 {
		return 0
	}
	bytes := a.Len * mem.Size[T]()
	dev, addr, err := window(a.Buf, a.Off, bytes)
	switch {
	case err != nil:
		c.err = fmt.Errorf("%s: %w", name, err)
	case dev != c.dev:
		c.err = fmt.Errorf("%w: %s is on device %s", kernels.ErrArgument, name, dev.info.ID)
	case a.Off%mem.Size[T]() != 0:
		c.err = fmt.Errorf("%w: %s begins at byte %d of its buffer", kernels.ErrArgument, name, a.Off)
	default:
		c.dev.mem.Rename(addr, name)
	}
	return addr
}

// suffix ends the names of kernels for V.
func suffix[V sparse.Value]() string {
	if mem.Size[V]() == 4 {
		return "_f32"
	}
	return "_f64"
}

// launch runs a kernel of the table on items of its unit.
func (c *call) launch(name string, items int64, args ...any) {
	if c.err != nil {
		return
	}
	info, err := cuda.Lookup(name)
	if err != nil {
		c.err = err
		return
	}
	m, err := module(info.Family)
	if err != nil {
		c.err = err
		return
	}
	k, err := m.Kernel(name)
	if err != nil {
		c.err = err
		return
	}
	d := c.dev
	if c.err = d.begin(name); c.err != nil {
		return
	}
	blocks := info.Blocks(items)
	if d.config.Blocks > 0 {
		blocks = min(blocks, d.config.Blocks)
	}
	counters, err := k.Launch(d.mem, ptx.Launch{
		Grid: ptx.Dim{X: int(blocks)}, Block: ptx.Dim{X: info.Block}, Workers: d.config.Workers,
		AllowUnwritten: d.config.Unchecked, AllowRaces: d.config.Unchecked,
	}, args...)
	if d.config.Trace != nil {
		d.config.Trace(name, counters)
	}
	c.err = err
}

// carries is the number of carries that n items of a kernel leave.
func (c *call) carries(name string, n int64) int64 {
	info, err := cuda.Lookup(name)
	if err != nil && c.err == nil {
		c.err = err
	}
	return info.Carries(n)
}
