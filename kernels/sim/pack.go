package sim

import (
	"errors"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/sparse"
)

// Pack implements kernels.Packer, for triangles and parts. For parts it supports kernels.FormCSR, kernels.FormMerge, the other
// forms of launch.PackForm, and kernels.FormAuto, which chooses between the first two by
// the lengths of the rows. It does not time them, because the times of an interpreter say
// nothing about a GPU.
func (d *Device) Pack(op kernels.Operation) (p kernels.Packed, err error) {
	s := newStream(d)
	defer s.Close()
	switch op := op.(type) {
	case *kernels.Packing[float64]:
		p, err = launch.PackForm(d, s, op)
	case *kernels.Packing[float32]:
		p, err = launch.PackForm(d, s, op)
	case *kernels.TrianglePacking[float64]:
		p, err = packTriangle(d, s, op)
	case *kernels.TrianglePacking[float32]:
		p, err = packTriangle(d, s, op)
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

func packTriangle[V sparse.Value](d *Device, s *stream, op *kernels.TrianglePacking[V]) (kernels.Packed, error) {
	t, err := launch.PackTriangle(d, s, op)
	if err != nil {
		return nil, err
	}
	return t, nil
}
