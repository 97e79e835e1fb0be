package cpu

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// AllocAcross returns zeroed memory whose pages alternate between the nodes of several CPU devices (numa.Interleave).
// The buffer belongs to the first device; each device counts an equal fraction of its bytes. AllocAcross fails with an
// error that wraps kernels.ErrArgument for devices of another kind, and with one that wraps kernels.ErrOutOfMemory if
// there is not enough memory. If the system refuses to interleave pages, each page goes to the node of the thread that
// touches it first.
func AllocAcross(bytes int64, devices []kernels.Device) (kernels.Buffer, error) {
	across, nodes, err := onNodes(devices)
	if err != nil {
		return nil, &kernels.DeviceError{Device: "cpu", Call: "alloc", Bytes: bytes, Err: err}
	}
	taken := 0
	undo := func() {
		for i, d := range across[:taken] {
			d.inUse.Add(-portionOf(bytes, len(across), i))
		}
	}
	for i, d := range across {
		if err := d.take(portionOf(bytes, len(across), i)); err != nil {
			undo()
			return nil, err
		}
		taken++
	}
	first := across[0]
	r, err := mem.New(bytes)
	if err != nil {
		undo()
		return nil, first.fail("alloc", bytes, fmt.Errorf("%w: %w", kernels.ErrOutOfMemory, err))
	}
	if first.pool.placed && r.Mapped() {
		if err := numa.Interleave(r.Bytes(), nodes); err != nil {
			first.onRefused(err)
		}
	}
	b := newBuffer(first, r.Bytes(), r)
	b.across = across
	return b, nil
}

// onNodes returns the CPU devices among the given devices, and their nodes. It fails for any other device.
func onNodes(devices []kernels.Device) (across []*Device, nodes []int, err error) {
	if len(devices) == 0 {
		return nil, nil, fmt.Errorf("%w: memory across no devices", kernels.ErrArgument)
	}
	for _, d := range devices {
		c, ok := d.(interface{ self() *Device })
		if !ok {
			return nil, nil, fmt.Errorf("%w: %s is no CPU device", kernels.ErrArgument, d.Info().ID)
		}
		across, nodes = append(across, c.self()), append(nodes, d.Info().NUMANode)
	}
	return across, nodes, nil
}

// self returns the device itself, also for types that embed Device.
func (d *Device) self() *Device { return d }

// portionOf returns the bytes that device i of n counts of a buffer across all of them.
func portionOf(bytes int64, n, i int) int64 { return par.Cut(bytes, n, i+1) - par.Cut(bytes, n, i) }
