package sim

import "github.com/msrep-go/msrep/kernels"

var _ kernels.Pinner = (*Device)(nil)

// AllocPinned gives host memory like any other: copies here have no detours.
func (d *Device) AllocPinned(bytes int64) (p []byte, free func() error, err error) {
	if err := d.begin("alloc pinned"); err != nil {
		return nil, nil, d.fail("alloc pinned", bytes, err)
	}
	return make([]byte, bytes), func() error { return nil }, nil
}
