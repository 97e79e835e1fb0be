package sim

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
)

// Simulated streams work synchronously, so they cannot show a missing Wait or Sync. On a GPU,
// streams are ordered only by Wait and by Sync of the host. So each stream has a clock.
// Two uses of the same memory are an error if at least one writes and no clock orders
// them.

// order guards all clocks and uses.
var order sync.Mutex

// clock holds, for each stream, how many of its calls have ended as far as the clock's
// owner knows. Calls that the host has waited for have ended for all and are not
// included.
type clock map[*stream]uint64

// learn adds the calls of another clock.
func (c clock) learn(other clock) {
	for s, n := range other {
		if c[s] < n {
			c[s] = n
		}
	}
}

// show records that the host has waited for the calls of a clock.
func (c clock) show() {
	for s, n := range c {
		s.seen = max(s.seen, n)
	}
}

// use is a range of bytes of a buffer that a stream reads or writes.
type use struct {
	buf    *buffer
	lo, hi int64
	writes bool

	by   *stream
	at   uint64 // position on the clock of by
	call string
}

// over reports whether the use has ended for the owner of a clock.
func (u use) over(c clock) bool { return u.at <= max(u.by.seen, c[u.by]) }

// begin records the uses of a call. It returns an error if another stream may still use
// the same bytes.
func (s *stream) begin(call string, uses ...use) error {
	order.Lock()
	defer order.Unlock()
	uses = slices.DeleteFunc(uses, func(u use) bool { return u.lo == u.hi })
	for _, u := range uses {
		for _, o := range u.buf.uses {
			if o.lo < u.hi && u.lo < o.hi && (o.writes || u.writes) && o.by != s && !o.over(s.clock) {
				return fmt.Errorf("%w: bytes [%d, %d) of a buffer of device %s while %s on a stream of device %s may still be running: call Wait first",
					kernels.ErrArgument, u.lo, u.hi, u.buf.dev.info.ID, o.call, o.by.dev.info.ID)
			}
		}
	}
	s.clock[s]++
	for _, u := range uses {
		u.by, u.at, u.call = s, s.clock[s], call
		b := u.buf
		b.uses = slices.DeleteFunc(b.uses, func(o use) bool { // u makes the older use redundant
			return o.at <= o.by.seen || u.lo <= o.lo && o.hi <= u.hi && (u.writes || !o.writes) && o.over(s.clock)
		})
		b.uses = append(b.uses, u)
	}
	return nil
}

// unused returns an error if a stream may still use a buffer: a stream of another
// device for which no stream of this device has waited.
func (b *buffer) unused() error {
	order.Lock()
	defer order.Unlock()
	known := clock{}
	for _, u := range b.uses {
		if u.by.dev == b.dev {
			known.learn(u.by.clock)
		}
	}
	for _, u := range b.uses {
		if u.by.dev != b.dev && !u.over(known) {
			return fmt.Errorf("%w: %s on a stream of device %s may still be running", kernels.ErrArgument, u.call, u.by.dev.info.ID)
		}
	}
	b.uses = nil
	return nil
}

// event is a point of a stream, with the clock of the stream at that point.
type event struct {
	*kernels.HostEvent
	clock clock
}

func (s *stream) Record(e kernels.Event) error {
	ev, ok := e.(*event)
	if !ok {
		return s.dev.fail("record", 0, fmt.Errorf("%w: an event of another kind of device", kernels.ErrArgument))
	}
	order.Lock()
	defer order.Unlock()
	ev.clock = maps.Clone(s.clock)
	ev.Mark()
	return nil
}

func (s *stream) Wait(e kernels.Event) error {
	ev, ok := e.(*event)
	if !ok {
		return kernels.WaitOnHost(s.dev.info.ID, e)
	}
	return s.do("wait", 0, func() error {
		order.Lock()
		defer order.Unlock()
		s.clock.learn(ev.clock)
		return nil
	})
}

// Sync records that the host has waited for the stream.
func (s *stream) Sync() error {
	order.Lock()
	defer order.Unlock()
	s.clock.show()
	return nil
}

// Close waits for the stream, as Sync does.
func (s *stream) Close() error { return s.Sync() }

// Since returns the time since start, an event of any simulated GPU.
func (e *event) Since(start kernels.Event) (time.Duration, error) {
	if s, ok := start.(*event); ok {
		start = s.HostEvent
	}
	return e.HostEvent.Since(start)
}

// Sync records that the host has waited for the event.
func (e *event) Sync() error {
	order.Lock()
	defer order.Unlock()
	e.clock.show()
	return nil
}

// watched is the memory of a device for the plan of an operation. It records the arrays
// of the operation.
type watched struct {
	*Device
	arrays []found
}

// found is an array of an operation.
type found struct {
	use
	at launch.Addr
}

// Address implements launch.Memory.
func (w *watched) Address(name string, b kernels.Buffer, off, bytes int64) (launch.Addr, error) {
	at, err := w.Device.Address(name, b, off, bytes)
	return w.note(b, off, bytes, at, err)
}

// PeerAddress implements launch.Memory.
func (w *watched) PeerAddress(name string, b kernels.Buffer, off, bytes int64) (launch.Addr, error) {
	at, err := w.Device.PeerAddress(name, b, off, bytes)
	return w.note(b, off, bytes, at, err)
}

// note records an array that is at an address.
func (w *watched) note(b kernels.Buffer, off, bytes int64, at launch.Addr, err error) (launch.Addr, error) {
	if err == nil {
		w.arrays = append(w.arrays, found{use{buf: b.(*buffer), lo: off, hi: off + bytes}, at})
	}
	return at, err
}

// peers returns the other devices of the arrays.
func (w *watched) peers() (list []*Device) {
	for _, a := range w.arrays {
		if dev := a.buf.dev; dev != w.Device && !slices.Contains(list, dev) {
			list = append(list, dev)
		}
	}
	return list
}

// uses returns the arrays of the operation. An array that a kernel writes is a write.
func (w *watched) uses(prog *launch.Program) (out []use) {
	for _, c := range prog.Calls {
		for i, p := range c.Kernel.Params {
			at, ok := c.Args[i].(launch.Addr)
			for k := range w.arrays {
				a := &w.arrays[k]
				a.writes = a.writes || ok && p.Written && a.at <= at && at < a.at+launch.Addr(a.hi-a.lo)
			}
		}
	}
	for _, a := range w.arrays {
		out = append(out, a.use)
	}
	return out
}
