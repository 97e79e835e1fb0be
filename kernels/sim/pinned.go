package sim

import "github.com/msrep-go/msrep/kernels"

var _ kernels.Pinner = (*Device)(nil)

// AllocPinned returns ordinary host memory: simulated copies need no pinned memory.
func (d *Device) AllocPinned(bytes int64) (p []byte, free func() error, err error) {
	if err := d.begin("alloc pinned"); err != nil {
		return nil, nil, d.fail("alloc pinned", bytes, err)
	}
	return make([]byte, bytes), func() error { return nil }, nil
}
