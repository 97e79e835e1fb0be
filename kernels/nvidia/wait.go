//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// A thread of a device asks the driver again and again whether work is done, instead of
// waiting in the driver. There are two reasons. Work that waits for an event of a lost
// GPU never ends, and a thread that waits for it in the driver would never return. And
// the driver's waits keep a core busy, which several devices take from the threads that
// copy and launch for them if there are few cores.

const (
	spinTime  = 20 * time.Millisecond // that a wait asks without sleeping, if there are many cores
	briefTime = 10 * time.Microsecond // the same, if there are few
	leastNap  = 20 * time.Microsecond
	mostNap   = 500 * time.Microsecond
	checkTime = 20 * time.Millisecond // between looks for a lost GPU

	// callsInFlight limits the calls on a stream that waits for other devices. If they
	// cannot run, launches beyond about a thousand would wait in the driver.
	callsInFlight = 256
)

// lossGrace is how long work may still take after a GPU that it may wait for was lost.
var lossGrace = time.Second

// openDevices is the number of open devices.
var openDevices atomic.Int64

// spins reports whether waits may keep cores busy: each device has a thread and a caller.
func spins() bool { return int64(runtime.GOMAXPROCS(0)) >= 2*openDevices.Load()+2 }

// pause pauses a wait that has taken some time, by a sixteenth of that.
func pause(waited time.Duration) {
	if waited < briefTime || waited < spinTime && spins() {
		return
	}
	// The timers of Go may take a millisecond.
	nap := unix.NsecToTimespec(int64(min(max(waited/16, leastNap), mostNap)))
	_ = unix.Nanosleep(&nap, nil) // a signal may end it early
}

// await waits until done returns true or an error, on the thread of the device. If it
// does not and a GPU was lost that the work may wait for, the device is given up: the
// work may never end.
func (d *Device) await(done func() (bool, error)) error {
	var lost *kernels.LostError
	var since time.Duration
	begin, check := time.Now(), checkTime
	for {
		if yes, err := done(); yes || err != nil {
			return err
		}
		waited := time.Since(begin)
		if waited >= check {
			if check = waited + checkTime; lost == nil {
				lost, since = d.lostSource(), waited
			}
			if lost != nil && waited-since >= lossGrace {
				return d.strand(lost)
			}
		}
		pause(waited)
	}
}

// sync waits for the work on a stream of the device.
func (d *Device) sync(s cu.Stream) error {
	return d.await(func() (bool, error) { return driver.StreamDone(s) })
}

// syncEvent waits for an event that a stream of the device has recorded.
func (d *Device) syncEvent(e cu.Event) error {
	return d.await(func() (bool, error) { return driver.EventDone(e) })
}

// strand gives the device up, because its work waits for a lost one.
func (d *Device) strand(lost *kernels.LostError) error {
	dead := fmt.Errorf("it waits for device %s, which was lost: %w", lost.Device, lost)
	d.stranded.Store(true)
	d.dead.CompareAndSwap(nil, &dead)
	return *d.dead.Load()
}

// sources is what the work of a device may wait for, since the device was opened.
type sources struct {
	mu       sync.Mutex
	devices  map[*Device]bool
	contexts map[*gpu]bool // that forward copies
	some     atomic.Bool
}

// dependsOn notes that work of d may wait for work of from.
func (d *Device) dependsOn(from *Device) {
	if from != d {
		note(&d.sources, &d.sources.devices, from)
	}
}

func note[K comparable](s *sources, set *map[K]bool, k K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *set == nil {
		*set = map[K]bool{}
	}
	(*set)[k] = true
	s.some.Store(true)
}

// lostSource returns the loss of a GPU that the work of d may wait for, directly or
// through other devices; nil if there is none. The context of d is current.
func (d *Device) lostSource() *kernels.LostError {
	seen := map[*Device]bool{d: true}
	contexts := map[*gpu]bool{}
	for queue := []*Device{d}; len(queue) > 0; queue = queue[1:] {
		s := &queue[0].sources
		s.mu.Lock()
		for g := range s.contexts {
			contexts[g] = true
		}
		for from := range s.devices {
			if contexts[from.gpu] = true; !seen[from] {
				seen[from] = true
				queue = append(queue, from)
			}
		}
		s.mu.Unlock()
	}
	for g := range contexts {
		if lost := g.check(d.gpu); lost != nil {
			return lost
		}
	}
	return nil
}

// check asks the driver whether the context was lost, on a thread where another context
// is current.
func (g *gpu) check(current *gpu) *kernels.LostError {
	if lost := g.lost.Load(); lost != nil || g == current || !g.hold() {
		return lost
	}
	err := cu.SetCurrentContext(g.ctx)
	if err == nil {
		_, err = driver.StreamDone(cu.Stream{}) // any call reports the loss
	}
	_ = cu.SetCurrentContext(current.ctx) // it was current before
	_ = g.let()
	if fatal[code(err)] {
		g.lose(err)
	}
	return g.lost.Load()
}

// lose notes the error by which the context was lost, if it is the first.
func (g *gpu) lose(err error) *kernels.LostError {
	lost := &kernels.LostError{Device: g.id(), Err: describe(err)}
	g.lost.CompareAndSwap(nil, lost)
	return lost
}

// limit waits, at times, for earlier calls on a stream that may wait for other devices.
func (s *stream) limit() error {
	if !s.dev.sources.some.Load() {
		return nil
	}
	if s.calls++; s.calls < callsInFlight/2 {
		return nil
	}
	s.calls = 0
	s.marks[0], s.marks[1] = s.marks[1], s.marks[0]
	older, newer := s.marks[0], &s.marks[1]
	if *newer == (cu.Event{}) {
		e, err := cu.MakeEvent(cu.DisableTiming)
		if err != nil {
			return err
		}
		*newer = e
	}
	if err := newer.Record(s.s); err != nil || !s.marked {
		s.marked = err == nil
		return err
	}
	return s.dev.syncEvent(older)
}

// releaseMarks destroys the events of limit.
func (s *stream) releaseMarks() error {
	var errs []error
	for _, e := range s.marks {
		if e != (cu.Event{}) {
			errs = append(errs, cu.DestroyEvent(&e))
		}
	}
	s.marks = [2]cu.Event{}
	return errors.Join(errs...)
}
