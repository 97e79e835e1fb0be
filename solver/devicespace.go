package solver

import (
	"context"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
)

// deviceSpace is a space with its vectors on devices that have their own memory. Only sums are copied to the host; each
// sum waits once for all devices. With a Distributed operator each process has a deviceSpace for its pieces.
//
// A Jacobi preconditioner is stored as a vector on the devices. For other preconditioners, vectors are copied to the
// host and back.
type deviceSpace struct {
	work
	a residentOperator
	m Preconditioner
	v []*msrep.Vector[float64]

	inverse *msrep.Vector[float64] // 1/diagonal, for Jacobi
	r, z    []float64              // host vectors for another preconditioner
	x       vector                 // the solution; fetch copies it to out
	out     []float64
}

// residentOperator is an operator that can multiply vectors on devices, such as a msrep.Plan or a cluster.Plan. In all
// processes of a Distributed operator, Resident returns the same. Apply with nil vectors takes part in the product of
// the other processes.
type residentOperator interface {
	Resident(op msrep.Transpose) bool
	RowVector() (*msrep.Vector[float64], error)
	Apply(ctx context.Context, op msrep.Transpose, alpha float64, x *msrep.Vector[float64], beta float64, y *msrep.Vector[float64]) error
}

// onDevices returns a as a residentOperator if the vectors of the solve can stay on devices, else nil. They can not for a
// deterministic plan: its sums have a fixed shape, which sums on devices do not have.
func onDevices(a Operator, all *processes) residentOperator {
	p, ok := a.(residentOperator)
	if plan, is := a.(*msrep.Plan[float64]); is && plan.Deterministic() || all != nil && all.op.Fixed() {
		return nil
	}
	if !ok || !p.Resident(msrep.NoTrans) {
		return nil
	}
	return p
}

// newDeviceSpace returns a space on the devices of an operator.
func newDeviceSpace(ctx context.Context, a residentOperator, m Preconditioner, all *processes) *deviceSpace {
	return &deviceSpace{work: work{ctx: ctx, procs: all}, a: a, m: m}
}

// load copies b, if there is one, and x to the devices.
func (s *deviceSpace) load(b, x []float64) (bv, xv vector) {
	bv = none
	if b != nil {
		bv = s.zero()
		s.do(func() error { return s.v[bv].Write(b) })
	}
	xv = s.zero()
	s.x, s.out = xv, x
	s.do(func() error { return s.v[xv].Write(x) })
	switch m := s.m.(type) {
	case nil:
	case *jacobi:
		i := s.zero()
		s.inverse = s.v[i]
		s.do(func() error { return s.inverse.Write(m.inverse) })
	default:
		s.do(func() (err error) {
			if err = vectorsFit("preconditioner", "its vectors in host memory take", 16*int64(len(x)), len(x)); err == nil {
				s.r, s.z = make([]float64, len(x)), make([]float64, len(x))
			}
			return err
		})
	}
	return bv, xv
}

// do runs f unless there was an error before.
func (s *deviceSpace) do(f func() error) {
	if s.err == nil {
		s.err = f()
	}
}

func (s *deviceSpace) zero() vector {
	s.v = append(s.v, nil)
	k := len(s.v) - 1
	s.do(func() (err error) {
		s.v[k], err = s.a.RowVector()
		return err
	})
	return vector(k)
}

// fetch copies the solution to the host.
func (s *deviceSpace) fetch() error {
	s.do(func() error { return s.v[s.x].Read(s.out) })
	return s.err
}

func (s *deviceSpace) free() error {
	var errs []error
	for _, v := range s.v {
		errs = append(errs, v.Close())
	}
	return errors.Join(errs...)
}

func (s *deviceSpace) product(a float64, x vector, b float64, y vector) {
	s.multiply(func(ctx context.Context) error {
		return s.a.Apply(ctx, msrep.NoTrans, a, s.v[x], b, s.v[y])
	})
}

func (s *deviceSpace) preconditioned(r, z vector) vector {
	if s.m == nil {
		return r
	}
	s.precondition(func() error {
		if s.inverse != nil {
			return s.v[z].Multiply(s.inverse, s.v[r])
		}
		if err := s.v[r].Read(s.r); err != nil {
			return err
		}
		if err := s.m.Apply(s.r, s.z); err != nil {
			return err
		}
		return s.v[z].Write(s.z)
	})
	return z
}

func (s *deviceSpace) set(a float64, src, dst vector) {
	s.do(func() error {
		if src == dst {
			return s.v[dst].Scale(a)
		}
		return s.v[dst].Axpby(a, s.v[src], 0)
	})
}

// round copies the vector to the host and back. A solve calls it at most once.
func (s *deviceSpace) round(x vector, exp int) {
	if exp == 0 {
		return
	}
	s.do(func() error { return s.v[x].Read(s.out) })
	s.do(func() error {
		roundAt(s.out, exp)
		return s.v[x].Write(s.out)
	})
}

// sums runs f, which writes sums to h, and adds the sums of all processes.
func (s *deviceSpace) sums(h []float64, f func() error) {
	s.do(f)
	if s.procs != nil {
		s.err = s.procs.total(s.ctx, h, h, s.err)
	}
}

// sum runs f and adds its sum over all processes. After an error it returns 0.
func (s *deviceSpace) sum(f func() (float64, error)) float64 {
	var h [1]float64
	s.sums(h[:], func() (err error) {
		h[0], err = f()
		return err
	})
	return h[0]
}

func (s *deviceSpace) dot(x, y vector) float64 {
	return s.sum(func() (float64, error) { return s.v[x].Dot(s.v[y]) })
}

func (s *deviceSpace) dots(x, y vector) (xy, xx float64) {
	h := make([]float64, 2)
	s.sums(h, func() error { return s.v[x].Project(h, s.vectors([]vector{y, x})) })
	return h[0], h[1]
}

func (s *deviceSpace) axpy(a float64, x, y vector) float64 {
	return s.combine(a, []float64{1}, []vector{x}, y)
}

// updateResidual also computes x = x + a*p: a step is one operation of the devices.
func (s *deviceSpace) updateResidual(a float64, p, q, x, r, z vector) (rr, rz float64) {
	rr = s.compute(kernels.CGStep, []float64{a}, p, q, x, r)[0]
	if s.m == nil {
		return rr, rr
	}
	return rr, s.dot(r, s.preconditioned(r, z))
}

func (s *deviceSpace) updateDirection(_, b float64, r, z, p, _ vector) {
	if s.m == nil {
		z = r
	}
	s.do(func() error { return s.v[p].Axpby(1, s.v[z], b) })
}

func (s *deviceSpace) updateSolution(float64, vector, vector) {}

func (s *deviceSpace) compute(f *kernels.Formula, numbers []float64, v ...vector) []float64 {
	h := make([]float64, f.Sums)
	run := func() error {
		sums, err := devvec.Compute(f, numbers, s.vectors(v)...)
		copy(h, sums)
		return err
	}
	if f.Sums == 0 {
		s.do(run) // no other process waits for sums
		return h
	}
	s.sums(h, run)
	return h
}

func (s *deviceSpace) vectors(v []vector) []*msrep.Vector[float64] {
	out := make([]*msrep.Vector[float64], len(v))
	for j, k := range v {
		out[j] = s.v[k]
	}
	return out
}

func (s *deviceSpace) project(v []vector, u, w vector) (g, h []float64) {
	all := make([]float64, 2*len(v)+1)
	g, h = all[:len(v)], all[len(v):]
	s.sums(all, func() error {
		if err := s.v[u].Project(g, s.vectors(v)); err != nil {
			return err
		}
		return s.v[w].Project(h, s.vectors(append(slices.Clip(v), u)))
	})
	return g, h
}

func (s *deviceSpace) subtractProjection(g, h []float64, v []vector, u, w vector) float64 {
	s.add(-1, g, v, u)
	return s.combine(-1, h, append(slices.Clip(v), u), w)
}

func (s *deviceSpace) add(a float64, h []float64, v []vector, w vector) {
	s.do(func() error { return s.v[w].Add(scaled(a, h), s.vectors(v)) })
}

// combine is add and returns w'w.
func (s *deviceSpace) combine(a float64, h []float64, v []vector, w vector) float64 {
	return s.sum(func() (float64, error) { return s.v[w].Combine(scaled(a, h), s.vectors(v)) })
}

// scaled returns a*h.
func scaled(a float64, h []float64) []float64 {
	out := make([]float64, len(h))
	vec.ScaleTo(a, h, out)
	return out
}
