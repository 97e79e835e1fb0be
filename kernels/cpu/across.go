package cpu

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// AllocAcross gives zeroed memory whose pages lie on the nodes of several CPU
// devices in turn (numa.Interleave). The buffer belongs to the first of them; each
// counts an equal share of its bytes. Devices of another kind are an error that
// wraps kernels.ErrArgument, too little memory one that wraps
// kernels.ErrOutOfMemory. Where the system refuses to interleave, the pages go to
// whoever touches them first.
func AllocAcross(bytes int64, devices []kernels.Device) (kernels.Buffer, error) {
	across, nodes, err := onNodes(devices)
	if err != nil {
		return nil, &kernels.DeviceError{Device: "cpu", Call: "alloc", Bytes: bytes, Err: err}
	}
	taken := 0
	giveBack := func() {
		for i, d := range across[:taken] {
			d.inUse.Add(-portionOf(bytes, len(across), i))
		}
	}
	for i, d := range across {
		if err := d.take(portionOf(bytes, len(across), i)); err != nil {
			giveBack()
			return nil, err
		}
		taken++
	}
	first := across[0]
	r, err := mem.New(bytes)
	if err != nil {
		giveBack()
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

// onNodes gives the CPU devices behind these devices, and their nodes.
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

// self is the device itself, also of types that embed it.
func (d *Device) self() *Device { return d }

// portionOf is what device i of n counts of a buffer of all of them.
func portionOf(bytes int64, n, i int) int64 { return par.Cut(bytes, n, i+1) - par.Cut(bytes, n, i) }
