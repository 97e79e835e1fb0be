//go:build cuda

package nvidia

import "github.com/msrep-go/msrep/kernels/nvidia/internal/driver"

// Profile starts or ends the range that a profiler counts, for example ncu with
// --profile-from-start off. Without a profiler it does nothing.
func (d *Device) Profile(on bool) error {
	return d.run("profile", 0, func() error { return driver.Profile(on) })
}
