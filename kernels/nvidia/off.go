//go:build !cuda

package nvidia

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
)

const notBuilt = "this binary was built without the tag cuda"

// Query reports that this binary supports no GPUs.
func Query() Status { return Status{Reason: notBuilt} }

// Open fails: it needs a binary built with the tag cuda.
func Open(c Config) (kernels.Device, error) {
	return nil, &kernels.DeviceError{Device: fmt.Sprintf("cuda:%d", c.GPU), Call: "open", Err: fmt.Errorf("%w: %s", kernels.ErrNotSupported, notBuilt)}
}

// Connect does nothing: there are no devices.
func Connect([]kernels.Device) ([]Link, error) { return nil, nil }

// Links returns nil.
func Links([]kernels.Device) []Link { return nil }

// Between reports no link.
func Between(a, b int) (LinkKind, int) { return LinkNone, 0 }
