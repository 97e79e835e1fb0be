package sim

import (
	"errors"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/sparse"
)

// Pack implements kernels.Packer: kernels.FormCSR, launch.FormMerge, and
// kernels.FormAuto, which chooses between them by the lengths of the rows. Time on
// an interpreter says nothing about a GPU.
func (d *Device) Pack(op kernels.Op) (p kernels.Packed, err error) {
	s := &stream{dev: d}
	switch op := op.(type) {
	case *kernels.Packing[float64]:
		p, err = pack(d, s, op)
	case *kernels.Packing[float32]:
		p, err = pack(d, s, op)
	default:
		err = kernels.ErrNotSupported
	}
	var failed *kernels.DeviceError
	switch {
	case err == nil:
		return p, nil
	case errors.As(err, &failed) || sparse.IsInput(err):
		return nil, err
	}
	return nil, d.fail("pack", 0, err)
}

func pack[V sparse.Value](d *Device, s kernels.Stream, op *kernels.Packing[V]) (kernels.Packed, error) {
	p, err := launch.Pack(d, s, op)
	if err != nil {
		return nil, err
	}
	return p, nil
}
