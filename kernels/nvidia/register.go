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

// Register pins memory of the caller in place, so that it can be copied directly. This
// takes as long as several copies. Memory that must not be written, such as a mapped
// file, is pinned for reading if the driver supports that; many drivers do not. The
// device keeps the memory reachable until release or Close, so that the garbage
// collector does not free it. Further calls of release do nothing. After an error
// nothing is pinned. The system may refuse to pin; memory that is already pinned, or
// shares a page with pinned memory, cannot be pinned again.
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
			return nil // Close of the device has unpinned it
		}
		return d.fail("unregister", bytes, err)
	}, nil
}

// registration is the memory that one call of Register pinned.
type registration struct {
	memory [][]byte
	pinned []place
}

// place is a range of addresses [start, end).
type place struct{ start, end uintptr }

// places returns the address ranges of memory. Arrays that share a page, such as those
// of a mapped file, form one range: pages are pinned as a whole, and a driver may
// refuse to pin a page twice.
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

// end unpins the memory once, on the thread of the device.
func (r *registration) end() error {
	var errs []error
	for _, p := range r.pinned {
		if err := driver.Unregister(p.start); err != nil {
			stillPinned.keep(r.memory)
			errs = append(errs, err)
		}
	}
	r.memory, r.pinned = nil, nil
	return errors.Join(errs...)
}

// stillPinned keeps memory that the driver failed to unpin. It stays reachable, because the
// driver would copy asynchronously to whatever is allocated there later.
var stillPinned holder

type holder struct {
	mu     sync.Mutex
	memory [][]byte
}

func (h *holder) keep(memory [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.memory = append(h.memory, memory...)
}

// register pins memory, for reading if nothing else is possible.
func register(addr, bytes uintptr) error {
	err := driver.Register(addr, bytes, false)
	if err != nil {
		if e := driver.Register(addr, bytes, true); code(e) != codeNotSupported {
			return e
		}
	}
	return err
}

// address returns the address of p.
func address(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }
