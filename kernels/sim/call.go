package sim

import (
	"errors"
	"fmt"
	"sync"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
)

// modules holds the parsed families, by name.
var modules sync.Map

// module parses the PTX of a family once.
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

// Address implements launch.Memory. It names the allocation after the array, for the
// messages of faults.
func (d *Device) Address(name string, b kernels.Buffer, off, bytes int64) (launch.Addr, error) {
	return address(name, b, off, bytes, func(dev *Device) bool { return dev == d })
}

// PeerAddress implements launch.Memory.
func (d *Device) PeerAddress(name string, b kernels.Buffer, off, bytes int64) (launch.Addr, error) {
	return address(name, b, off, bytes, func(dev *Device) bool { return kernels.ReadsPeer(d, dev) })
}

// address is Address for a buffer of a device that on accepts.
func address(name string, b kernels.Buffer, off, bytes int64, on func(*Device) bool) (launch.Addr, error) {
	at, addr, err := window(b, off, bytes)
	if err != nil {
		return 0, err
	}
	if dev := at.buf.dev; !on(dev) {
		return 0, fmt.Errorf("%w: it is on device %s", kernels.ErrArgument, dev.info.ID)
	}
	at.buf.dev.mem.Rename(addr, name)
	return launch.Addr(addr), nil
}

// launch runs the kernels that package launch plans for an operation.
func (s *stream) launch(op kernels.Operation) (err error) {
	d := s.dev
	w := &watched{Device: d}
	prog, err := launch.Plan(op, w, d.config.CSRKernel)
	if err != nil {
		return err
	}
	if err := s.begin(op.Name(), w.uses(prog)...); err != nil {
		return err
	}
	temps := make([]ptx.Addr, 0, len(prog.Temps))
	defer func() {
		for _, a := range temps {
			if e := d.mem.Free(a); e != nil && err == nil {
				err = e
			}
		}
	}()
	for _, t := range prog.Temps {
		a, err := d.mem.Alloc(t.Name, t.Bytes)
		if err != nil {
			return err
		}
		temps = append(temps, a)
	}
	for _, c := range prog.Calls {
		counters, err := d.call(c, temps, w.peers())
		if err != nil {
			return err
		}
		all := counters.Total()
		s.sectors += all.LoadSectors + all.StoreSectors + all.AtomicSectors
	}
	return nil
}

// call runs one kernel, which may read the memory of peers.
func (d *Device) call(c launch.Call, temps []ptx.Addr, peers []*Device) (counters ptx.Counters, err error) {
	m, err := module(c.Kernel.Family)
	if err != nil {
		return counters, err
	}
	k, err := m.Kernel(c.Kernel.Name)
	if err != nil {
		return counters, err
	}
	if err := d.begin(c.Kernel.Name); err != nil {
		return counters, err
	}
	args := make([]any, len(c.Args))
	for i, a := range c.Args {
		switch a := a.(type) {
		case launch.Addr:
			args[i] = ptx.Addr(a)
		case launch.Temp:
			args[i] = temps[a]
		case launch.TempAt:
			args[i] = temps[a.Temp] + ptx.Addr(a.Off)
		default:
			args[i] = a
		}
	}
	blocks := c.Blocks
	if d.config.Blocks > 0 {
		blocks = min(blocks, d.config.Blocks)
	}
	counters, err = k.Launch(d.mem, ptx.Launch{
		Grid: ptx.Dim{X: int(blocks)}, Block: ptx.Dim{X: c.Kernel.Block}, Shared: c.Shared, Workers: d.config.Workers,
		AllowUnwritten: d.config.Unchecked, AllowRaces: d.config.Unchecked, Peers: memories(peers),
	}, args...)
	d.notePeers(peers, counters)
	if d.config.Trace != nil {
		d.config.Trace(c.Kernel.Name, counters)
	}
	return counters, err
}

// Traffic implements kernels.Meter.
func (d *Device) Traffic(op kernels.Operation) (int64, error) {
	const sector = 32
	s := newStream(d)
	err := s.Launch(op)
	return sector * s.sectors, errors.Join(err, s.Close())
}
