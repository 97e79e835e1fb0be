package sim

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
)

// Simulated streams work at once, so nothing that they do comes too early. On a GPU it
// would: streams know nothing of each other but what they Wait for, and what the host
// has seen with Sync. So each stream has a clock, and two uses of the same memory, one
// of them writing, that no clock puts in order are an error.

// order guards all clocks and uses.
var order sync.Mutex

// clock says how many calls of each stream are over for those who have it, beside those
// that the host has seen, which are over for all.
type clock map[*stream]uint64

// learn adds what another clock knows.
func (c clock) learn(other clock) {
	for s, n := range other {
		if c[s] < n {
			c[s] = n
		}
	}
}

// show lets the host see what a clock knows.
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
	at   uint64 // on the clock of by
	call string
}

// over reports whether the use has ended for those who have a clock.
func (u use) over(c clock) bool { return u.at <= max(u.by.seen, c[u.by]) }

// begin puts the uses of a call behind those of the stream, and refuses them where
// another stream may still be at the same bytes.
func (s *stream) begin(call string, uses ...use) error {
	order.Lock()
	defer order.Unlock()
	uses = slices.DeleteFunc(uses, func(u use) bool { return u.lo == u.hi })
	for _, u := range uses {
		for _, o := range u.buf.uses {
			if o.lo < u.hi && u.lo < o.hi && (o.writes || u.writes) && o.by != s && !o.over(s.clock) {
				return fmt.Errorf("%w: bytes [%d, %d) of a buffer of device %s while %s on a stream of device %s may not be over: Wait for it",
					kernels.ErrArgument, u.lo, u.hi, u.buf.dev.info.ID, o.call, o.by.dev.info.ID)
			}
		}
	}
	s.clock[s]++
	for _, u := range uses {
		u.by, u.at, u.call = s, s.clock[s], call
		b := u.buf
		b.uses = slices.DeleteFunc(b.uses, func(o use) bool { // of which u tells all that is left to know
			return o.at <= o.by.seen || u.lo <= o.lo && o.hi <= u.hi && (u.writes || !o.writes) && o.over(s.clock)
		})
		b.uses = append(b.uses, u)
	}
	return nil
}

// unused says who may still be at a buffer: streams of other devices, for which those of
// its own have not waited.
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
			return fmt.Errorf("%w: %s on a stream of device %s may not be over", kernels.ErrArgument, u.call, u.by.dev.info.ID)
		}
	}
	b.uses = nil
	return nil
}

// event is a moment of a stream, with what has ended by then.
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

// Sync lets the host see what the stream has done.
func (s *stream) Sync() error {
	order.Lock()
	defer order.Unlock()
	s.clock.show()
	return nil
}

// Close waits for the stream, as Sync does.
func (s *stream) Close() error { return s.Sync() }

// Since is the time from start, an event of any simulated GPU.
func (e *event) Since(start kernels.Event) (time.Duration, error) {
	if s, ok := start.(*event); ok {
		start = s.HostEvent
	}
	return e.HostEvent.Since(start)
}

// Sync lets the host see what has ended at the moment.
func (e *event) Sync() error {
	order.Lock()
	defer order.Unlock()
	e.clock.show()
	return nil
}

// watched is the memory of a device for the plan of an operation, with the arrays that
// the operation has there.
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
	if err == nil {
		w.arrays = append(w.arrays, found{use{buf: b.(*buffer), lo: off, hi: off + bytes}, at})
	}
	return at, err
}

// uses is the arrays of the operation; those that one of its kernels writes are written.
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
