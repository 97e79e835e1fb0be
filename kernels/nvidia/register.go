//go:build cuda

package nvidia

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// Register pins memory of the caller where it is: copies of it then need no pinned memory
// in between. That takes as long as some copies. Memory that may not be written, such as
// a mapped file, is pinned for reading where the driver can do that; many can't. The
// device keeps the memory reachable until release or Close, so that the collector cannot
// take it; more calls of release do nothing. After an error nothing is pinned: the system may refuse it, and what
// is pinned already can't be pinned again.
func (d *Device) Register(memory ...[]byte) (release func() error, err error) {
	r := &registration{}
	bytes := int64(0)
	for _, m := range memory {
		bytes += int64(len(m))
	}
	err = d.run("register", bytes, func() error {
		for _, m := range memory {
			if len(m) == 0 {
				continue
			}
			if err := register(address(m), uintptr(len(m))); err != nil {
				return freeAfter(err, r.end())
			}
			r.memory = append(r.memory, m)
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
type registration struct{ memory [][]byte }

// end lets the memory go, once, on the thread of the device.
func (r *registration) end() error {
	var errs []error
	for _, m := range r.memory {
		if err := driver.Unregister(address(m)); err != nil {
			held.keep(m)
			errs = append(errs, err)
		}
	}
	r.memory = nil
	return errors.Join(errs...)
}

// held is memory that the driver did not let go of. It stays reachable: to what came to
// lie there the driver would copy without waiting for anybody.
var held holder

type holder struct {
	mu     sync.Mutex
	memory [][]byte
}

func (h *holder) keep(m []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.memory = append(h.memory, m)
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
