package launch

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/sparse"
)

// Addr is an address in the memory of a device, as a kernel argument.
type Addr uint64

// Temp is an index into Program.Temps, as a kernel argument. TempAt is an address inside it.
type (
	Temp   int
	TempAt struct {
		Temp Temp
		Off  int64 // bytes
	}
)

// Memory finds arrays on a device.
type Memory interface {
	// Address returns the address of bytes [off, off+bytes) of a buffer, which must be
	// on the device. name is the name of the array in the operation.
	Address(name string, b kernels.Buffer, off, bytes int64) (Addr, error)
	// PeerAddress is Address for a buffer that kernels of the device only read: it may also be
	// on a device that this one reads (kernels.ReadsPeer).
	PeerAddress(name string, b kernels.Buffer, off, bytes int64) (Addr, error)
}

// Call is the launch of one kernel. Args are Addr, Temp, TempAt, int64, float64 and
// float32, according to its parameters.
type Call struct {
	Kernel cuda.Kernel
	Blocks int64 // to process all items in one pass; fewer blocks take several
	// GroupsPerBlock is the largest number of consecutive groups of items that a block should
	// process; it loads the start of the next group ahead. 0 means one.
	GroupsPerBlock int64
	// Shared is the number of bytes of dynamic shared memory.
	Shared int64
	Args   []any
}

// Scratch is uninitialized memory that the calls of one program share. It begins at a
// multiple of 8 bytes.
type Scratch struct {
	Name  string
	Bytes int64
}

// Program holds the kernel calls of an operation, in order.
type Program struct {
	Temps []Scratch
	Calls []Call
}

// builder builds a program and keeps the first error.
type builder struct {
	mem  Memory
	prog Program
	err  error
}

// fail records an ErrArgument, unless there is an earlier error.
func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: %s", kernels.ErrArgument, fmt.Sprintf(format, args...))
	}
}

// temp adds scratch memory of n elements.
func temp[T mem.Elem](b *builder, name string, n int64) Temp {
	b.prog.Temps = append(b.prog.Temps, Scratch{Name: name, Bytes: n * mem.Size[T]()})
	return Temp(len(b.prog.Temps) - 1)
}

// array returns the address of an array of n elements.
func array[T mem.Elem](b *builder, name string, a kernels.Array[T], n int64) Addr {
	return located(b, name, a, n, b.mem.Address)
}

// peerArray is array for an array that kernels only read, which may be on another device.
func peerArray[T mem.Elem](b *builder, name string, a kernels.Array[T], n int64) Addr {
	return located(b, name, a, n, b.mem.PeerAddress)
}

// located returns the address of an array of n elements, which address finds.
func located[T mem.Elem](b *builder, name string, a kernels.Array[T], n int64, address func(string, kernels.Buffer, int64, int64) (Addr, error)) Addr {
	if b.err != nil {
		return 0
	}
	if a.Len != n {
		b.err = fmt.Errorf("%w: %s has %d elements, it needs %d", kernels.ErrArgument, name, a.Len, n)
		return 0
	}
	if a.Buf == nil && n == 0 {
		return 0
	}
	if a.Off%mem.Size[T]() != 0 {
		b.err = fmt.Errorf("%w: %s begins at byte %d of its buffer", kernels.ErrArgument, name, a.Off)
		return 0
	}
	addr, err := address(name, a.Buf, a.Off, n*mem.Size[T]())
	if err != nil {
		b.err = fmt.Errorf("%s: %w", name, err)
	}
	return addr
}

// suffix returns the suffix of kernel names for V.
func suffix[V sparse.Value]() string {
	if mem.Size[V]() == 4 {
		return "_f32"
	}
	return "_f64"
}

// call adds a call of a kernel of the table on a number of its units.
func (b *builder) call(name string, items int64, args ...any) {
	info := b.lookup(name)
	b.prog.Calls = append(b.prog.Calls, Call{Kernel: info, Blocks: info.Blocks(items), Args: args})
}

// setGroupsPerBlock sets GroupsPerBlock of the last call.
func (b *builder) setGroupsPerBlock(n int64) {
	if b.err == nil {
		b.prog.Calls[len(b.prog.Calls)-1].GroupsPerBlock = n
	}
}

// setShared sets Shared of the last call.
func (b *builder) setShared(bytes int64) {
	if b.err == nil {
		b.prog.Calls[len(b.prog.Calls)-1].Shared = bytes
	}
}

// Grid returns the number of blocks for a device that runs at most resident blocks at a
// time. If blocks process several groups, the grid fills the device a whole number of
// times, so that no part of it is idle at the end.
func (c Call) Grid(resident int64) int64 {
	if c.GroupsPerBlock < 2 || resident < 1 || c.Blocks <= resident {
		return c.Blocks
	}
	fills := (c.Blocks-1)/resident/c.GroupsPerBlock + 1
	return min(fills*resident, c.Blocks)
}

// carries returns the number of carries for n items of a kernel.
func (b *builder) carries(name string, n int64) int64 { return b.lookup(name).Carries(n) }

func (b *builder) lookup(name string) cuda.Kernel {
	info, err := cuda.Lookup(name)
	if err != nil && b.err == nil {
		b.err = err
	}
	return info
}
