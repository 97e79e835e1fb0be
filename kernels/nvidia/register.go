//go:build cuda

package nvidia

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// Register pins memory of the caller where it is: copies of it then need no pinned memory
// in between. That takes as long as some copies. Memory that may not be written, such as
// a mapped file, is pinned for reading where the driver can do that; many can't. The
// device keeps the memory reachable until release or Close, so that the collector cannot
// take it; more calls of release do nothing. After an error nothing is pinned: the system may
// refuse it, and what is pinned already, or shares a page with that, can't be pinned again.
func (d *Device) Register(memory ...[]byte) (release func() error, err error) {
	r := &registration{}
	bytes := int64(0)
	for _, m := range memory {
		bytes += int64(len(m))
	}
	err = d.run("register", bytes, func() error {
		r.memory = slices.Clone(memory)
		for _, p := range places(memory) {
			if err := register(p.start, p.end-p.start); err != nil {
				return freeAfter(err, r.end())
			}
			r.pinned = append(r.pinned, p)
		}
		d.registered[r] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		err := d.worker.call(func() error {
			delete(d.registered, r)
			return r.end()
		})
		if errors.Is(err, kernels.ErrClosed) {
			return nil // the device has ended it
		}
		return d.fail("unregister", bytes, err)
	}, nil
}

// registration is memory that one call of Register pinned.
type registration struct {
	memory [][]byte
	pinned []place
}

// place is addresses [start, end).
type place struct{ start, end uintptr }

// places is where memory lies. What shares a page is one place, such as the arrays of a
// mapped file: pages are pinned as a whole, and a driver may refuse to pin one twice.
func places(memory [][]byte) (out []place) {
	var all []place
	for _, m := range memory {
		if len(m) > 0 {
			all = append(all, place{address(m), address(m) + uintptr(len(m))})
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.start, b.start) })
	page := uintptr(os.Getpagesize())
	for _, p := range all {
		if n := len(out); n > 0 && p.start/page <= (out[n-1].end-1)/page {
			out[n-1].end = max(out[n-1].end, p.end)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// end lets the memory go, once, on the thread of the device.
func (r *registration) end() error {
	var errs []error
	for _, p := range r.pinned {
		if err := driver.Unregister(p.start); err != nil {
			held.keep(r.memory)
			errs = append(errs, err)
		}
	}
	r.memory, r.pinned = nil, nil
	return errors.Join(errs...)
}

// held is memory that the driver did not let go of. It stays reachable: to what came to
// lie there the driver would copy without waiting for anybody.
var held holder

type holder struct {
	mu     sync.Mutex
	memory [][]byte
}

func (h *holder) keep(memory [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.memory = append(h.memory, memory...)
}

// register pins memory, for reading where nothing else can be had.
func register(addr, bytes uintptr) error {
	err := driver.Register(addr, bytes, false)
	if err != nil {
		if e := driver.Register(addr, bytes, true); code(e) != codeNotSupported {
			return e
		}
	}
	return err
}

// address is where p lies.
func address(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }
