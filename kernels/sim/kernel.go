package sim

import (
	"math"
	"strings"
	"sync"

	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
)

// KernelParams returns the number of parameters of a GPU kernel of this module, 0 for an unknown kernel.
func KernelParams(kernel string) int {
	k, err := cuda.Lookup(kernel)
	if err != nil {
		return 0
	}
	return len(k.Params)
}

// RunKernel runs a GPU kernel of this module on host memory, with the arguments that cuLaunchKernel receives: one slot of
// 8 bytes for each parameter, and with shared bytes of dynamic shared memory. text is the PTX of the kernel's module. memory returns the allocation that contains an
// address, and where the allocation begins; no bytes mean that there is none. The kernel works on copies of the
// allocations; those that it writes are copied back. Stand-ins for a driver use it (internal/nvidiatest).
func RunKernel(kernel, text string, grid, block int, shared int64, slots []uint64, memory func(addr uint64) (base uint64, bytes []byte)) error {
	info, err := cuda.Lookup(kernel)
	if err != nil {
		return err
	}
	m, err := parsed(info.Family, text)
	if err != nil {
		return err
	}
	k, err := m.Kernel(kernel)
	if err != nil {
		return err
	}
	c := copies{mem: ptx.NewMemory(0), at: map[uint64]ptx.Addr{}, written: map[uint64][]byte{}}
	args := make([]any, len(slots))
	for i, p := range info.Params {
		switch p.Type {
		case cuda.Int64:
			args[i] = int64(slots[i])
		case cuda.Float64:
			args[i] = math.Float64frombits(slots[i])
		case cuda.Float32:
			args[i] = math.Float32frombits(uint32(slots[i]))
		case cuda.Pointer:
			base, bytes := memory(slots[i])
			if args[i], err = c.pointer(p, slots[i], base, bytes); err != nil {
				return err
			}
		}
	}
	if _, err := k.Launch(c.mem, ptx.Launch{Grid: ptx.Dim{X: grid}, Block: ptx.Dim{X: block}, Shared: shared}, args...); err != nil {
		return err
	}
	for base, bytes := range c.written {
		if err := c.mem.Read(bytes, c.at[base]); err != nil {
			return err
		}
	}
	return nil
}

// copies holds the copies of allocations, by where the allocations begin.
type copies struct {
	mem     *ptx.Memory
	at      map[uint64]ptx.Addr
	written map[uint64][]byte // the allocations that the kernel writes
}

// pointer returns the address in the copy that corresponds to the address addr of an allocation. It returns 0 if there
// is no allocation: addr is 0, or the kernel must not use it.
func (c *copies) pointer(p cuda.Param, addr, base uint64, bytes []byte) (ptx.Addr, error) {
	if bytes == nil {
		return 0, nil
	}
	at, ok := c.at[base]
	if !ok {
		var err error
		if at, err = c.mem.Alloc(p.Name, int64(len(bytes))); err != nil {
			return 0, err
		}
		if err := c.mem.Write(at, bytes); err != nil {
			return 0, err
		}
		c.at[base] = at
	}
	if p.Written {
		c.written[base] = bytes
	}
	return at + ptx.Addr(addr-base), nil
}

// texts holds the modules that parsed has returned, by their texts.
var texts sync.Map

// parsed parses the text of a family.
func parsed(family, text string) (*ptx.Module, error) {
	if m, ok := texts.Load(text); ok {
		return m.(*ptx.Module), nil
	}
	text = strings.Clone(text)
	m, err := ptx.Parse(family, text)
	if err == nil {
		texts.Store(text, m)
	}
	return m, err
}
