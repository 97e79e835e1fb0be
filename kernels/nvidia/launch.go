//go:build cuda

package nvidia

import (
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
)

// temp is scratch memory that a stream keeps for its next operation.
type temp struct {
	addr  cu.DevicePtr
	bytes int64
}

// Launch enqueues an operation on the stream.
func (s *stream) Launch(op kernels.Operation) error {
	if multiply, ok := launch.StreamedProduct(op); ok {
		return multiply(s)
	}
	d := s.dev
	f, err := d.plan(s, op)
	if err != nil {
		return d.fail(op.Name(), 0, err)
	}
	return s.later(op.Name(), 0, func() error {
		s.last = op.Name()
		return f()
	})
}

// plan checks an operation and returns a function that enqueues it on a stream.
func (d *Device) plan(s *stream, op kernels.Operation) (func() error, error) {
	switch op := op.(type) {
	case *kernels.MajorProductPacked[float64]:
		if a, ok := op.A.(*sparsePart[float64]); ok {
			return a.product(s, op)
		}
	case *kernels.MajorProductPacked[float32]:
		if a, ok := op.A.(*sparsePart[float32]); ok {
			return a.product(s, op)
		}
	case *kernels.TriangularSolve[float64]:
		if t, ok := op.A.(*sparseTriangle[float64]); ok {
			return t.run(s, op)
		}
	case *kernels.TriangularSolve[float32]:
		if t, ok := op.A.(*sparseTriangle[float32]); ok {
			return t.run(s, op)
		}
	}
	prog, err := launch.Plan(op, d, launch.Vector)
	if err != nil {
		return nil, err
	}
	return func() error { return s.run(prog) }, nil
}

// run enqueues the calls of a program on the stream, on the thread of the device.
func (s *stream) run(prog *launch.Program) error {
	if err := s.scratch(prog.Temps); err != nil {
		return err
	}
	for _, c := range prog.Calls {
		if err := s.call(c); err != nil {
			return fmt.Errorf("%s: %w", c.Kernel.Name, err)
		}
	}
	return nil
}

// scratch makes s.temps large enough. The operation before may still use the buffers,
// but stream order ensures that they are free when this one runs.
func (s *stream) scratch(need []launch.Scratch) error {
	for i, n := range need {
		if i == len(s.temps) {
			s.temps = append(s.temps, temp{})
		}
		t := &s.temps[i]
		if t.bytes >= n.Bytes {
			continue
		}
		if t.bytes > 0 {
			old := *t
			*t = temp{}
			if err := s.dev.free(old.addr, s.s); err != nil {
				return err
			}
		}
		addr, err := s.dev.allocate(n.Bytes, s.s)
		if err != nil {
			return fmt.Errorf("%d bytes of scratch memory: %w", n.Bytes, err)
		}
		*t = temp{addr, n.Bytes}
	}
	return nil
}

// call launches one kernel, with each argument in a slot of 8 bytes.
func (s *stream) call(c launch.Call) error {
	f, err := s.dev.gpu.function(c.Kernel)
	if err != nil {
		return err
	}
	slots := make([]uint64, len(c.Args))
	for i, a := range c.Args {
		switch a := a.(type) {
		case launch.Addr:
			slots[i] = uint64(a)
		case launch.Temp:
			slots[i] = uint64(s.temps[a].addr)
		case launch.TempAt:
			slots[i] = uint64(s.temps[a.Temp].addr) + uint64(a.Off)
		case int64:
			slots[i] = uint64(a)
		case float64:
			slots[i] = math.Float64bits(a)
		case float32:
			slots[i] = uint64(math.Float32bits(a))
		default:
			return fmt.Errorf("%w: parameter %d of type %T", kernels.ErrArgument, i, a)
		}
	}
	if err := s.dev.gpu.allowShared(c.Kernel.Name, f, c.Shared); err != nil {
		return err
	}
	return f.Launch(s.dev.gpu.grid(c, f), c.Kernel.Block, c.Shared, s.s, slots)
}

// Scratch returns the bytes of scratch memory that the streams of the device hold.
func (d *Device) Scratch() (sum int64) {
	err := d.worker.call(func() error {
		for s := range d.streams {
			for _, t := range s.temps {
				sum += t.bytes
			}
		}
		return nil
	})
	if err != nil { // closed: there is none
		return 0
	}
	return sum
}
