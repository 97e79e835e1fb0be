// Package memory is the memory of a CPU device: it allocates and counts buffers, holds them while a kernel uses them,
// and keeps memory for the forms that workers build (Arena) and for their partial results (Scratch).
package memory

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/numa"
)

// Memory is the memory of a device, and the workers that touch it.
type Memory struct {
	ID        string // of the device
	Pool      *workers.Pool
	Limit     int64 // of InUse; 0 for none
	Scratch64 Scratch[float64]
	Scratch32 Scratch[float32]
	Spare     mem.Spare // memory of freed packed parts and of trials

	device    kernels.Device
	onRefused func(error)
	inUse     atomic.Int64
	closed    atomic.Bool
	node      int // NUMA node; -1 for no particular one
}

var _ kernels.HostMapper = (*Memory)(nil)

// New returns the memory of a device whose workers are those of a pool. info describes the device. onRefused is called
// if the system refuses to place memory.
func New(device kernels.Device, info kernels.Info, pool *workers.Pool, onRefused func(error)) *Memory {
	m := &Memory{Pool: pool, device: device, onRefused: onRefused, ID: info.ID, Limit: info.Memory, node: info.NUMANode}
	m.Scratch64.Mem, m.Scratch32.Mem = m, m
	return m
}

// InUse returns the number of bytes allocated and not freed, without Spare and scratch memory.
func (m *Memory) InUse() int64 { return m.inUse.Load() }

// Alloc returns zeroed, 64-byte aligned memory. Large buffers lie outside the Go heap, on the device's node if its
// workers have CPUs of their own. Errors wrap kernels.ErrOutOfMemory if there is not enough memory.
func (m *Memory) Alloc(bytes int64) (kernels.Buffer, error) {
	if err := m.Take(bytes); err != nil {
		return nil, err
	}
	r, err := m.region(bytes)
	if err != nil {
		m.inUse.Add(-bytes)
		return nil, m.Fail("alloc", bytes, err)
	}
	return newBuffer(m, r.Bytes(), r), nil
}

// Take counts bytes that are about to be allocated. It fails beyond the bound of the device or of the process.
func (m *Memory) Take(bytes int64) error {
	if m.closed.Load() {
		return m.Fail("alloc", bytes, kernels.ErrClosed)
	}
	if bytes < 0 {
		return m.Fail("alloc", 0, fmt.Errorf("%w: %d bytes", kernels.ErrArgument, bytes))
	}
	if have, ok := mem.Fits(bytes); !ok {
		return m.Fail("alloc", bytes, fmt.Errorf("%w: %d are available", kernels.ErrOutOfMemory, have))
	}
	return m.count(bytes)
}

// Release subtracts bytes that Take counted.
func (m *Memory) Release(bytes int64) { m.inUse.Add(-bytes) }

// count counts bytes that the process has or is about to have. It fails beyond the bound of the device.
func (m *Memory) count(bytes int64) error {
	used := m.inUse.Add(bytes)
	if m.Limit > 0 && used+m.Spare.Bytes() > m.Limit {
		_ = m.Spare.Drop()
	}
	if m.Limit > 0 && (used > m.Limit || used < 0) {
		m.inUse.Add(-bytes)
		return m.Fail("alloc", bytes, fmt.Errorf("%w: %d of %d in use", kernels.ErrOutOfMemory, used-bytes, m.Limit))
	}
	return nil
}

// region allocates memory on the node of the device.
func (m *Memory) region(bytes int64) (*mem.Region, error) { return m.bound(mem.New(bytes)) }

// reserve returns addresses for room bytes on the node of the device, about need of which will be used. It reuses
// memory that the device kept, if there is any: the first touched bytes then have pages and are counted. It returns
// nil where no addresses are available.
func (m *Memory) reserve(need, room int64) (r *mem.Region, touched int64) {
	if r, touched = m.Spare.Take(need, room); r != nil {
		if m.count(touched) == nil {
			return r, touched
		}
		_ = r.Free()
	}
	r, _ = m.bound(mem.Reserve(room))
	return r, 0
}

// bound binds a region to the node of the device.
func (m *Memory) bound(r *mem.Region, err error) (*mem.Region, error) {
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kernels.ErrOutOfMemory, err)
	}
	if m.Pool.Placed && m.node >= 0 && r.Mapped() {
		if err := numa.Bind(r.Bytes(), m.node); err != nil {
			m.onRefused(err) // the workers touch it first, which is as good if they are pinned
		}
	}
	return r, nil
}

// Adopt returns a buffer that uses p, memory that the caller owns. The device does not free p.
func (m *Memory) Adopt(p []byte) kernels.Buffer { return newBuffer(m, p, nil) }

// View returns the memory of a buffer of any CPU device. The memory is invalid once the buffer is freed: if that may
// happen concurrently, hold it with Views. A buffer of another kind of device is an error that wraps
// kernels.ErrArgument.
func (m *Memory) View(b kernels.Buffer) ([]byte, error) {
	c, ok := b.(*buffer)
	if !ok || c == nil {
		return nil, fmt.Errorf("%w: a buffer of another kind of device", kernels.ErrArgument)
	}
	if c.freed.Load() {
		return nil, errFreed
	}
	return c.mem, nil
}

var errFreed = fmt.Errorf("%w: the buffer was freed", kernels.ErrClosed)

// Close frees what the device keeps, and fails if buffers were not freed.
func (m *Memory) Close() error {
	m.closed.Store(true)
	err := errors.Join(m.Scratch64.drop(), m.Scratch32.drop(), m.Spare.Close())
	if n := m.inUse.Load(); n != 0 {
		err = errors.Join(err, fmt.Errorf("%d bytes were not freed", n))
	}
	return err
}

// Fail returns err with the device and the call that failed.
func (m *Memory) Fail(call string, bytes int64, err error) error {
	return &kernels.DeviceError{Device: m.ID, Call: call, Bytes: bytes, Err: err}
}
