package space

import (
	"context"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// device is a space with its vectors on devices that have their own memory. Only sums are copied to the host; each
// sum waits once for all devices. CG makes its sums without the host. With a Distributed operator each process has a device for its pieces.
//
// A Jacobi preconditioner is stored as a vector on the devices, and triangles (factor.Triangles) are solved there. For other
// preconditioners, vectors are copied to the host and back.
type device struct {
	work
	a Resident
	m preconditioner
	v []*msrep.Vector[float64]

	spare   map[int][]Vector       // of Rotate, by length
	inverse *msrep.Vector[float64] // 1/diagonal, for Jacobi
	r, z    []float64              // host vectors for another preconditioner
	x       Vector                 // the solution; fetch copies it to out
	out     []float64
	scalars []*devvec.Scalars

	order  reordered // of a, whose vectors have another order than the matrix, or nil
	buffer []float64 // a vector on the way to or from that order
}

// Resident is an operator that can multiply vectors on devices, such as a msrep.Plan or a cluster.Plan. In all
// processes of a Distributed operator, Resident returns the same. Apply with nil vectors takes part in the product of
// the other processes.
type Resident interface {
	Dims() (rows, cols int)
	Resident(op msrep.Transpose) bool
	RowVector() (*msrep.Vector[float64], error)
	ColumnVector() (*msrep.Vector[float64], error)
	Apply(ctx context.Context, op msrep.Transpose, alpha float64, x *msrep.Vector[float64], beta float64, y *msrep.Vector[float64]) error
}

// OnDevices returns a as a Resident if the vectors of the solve can stay on devices, else nil. They can not for a
// deterministic plan: its sums have a fixed shape, which sums on devices do not have. transposed states that the solve
// also multiplies by the transposed matrix.
func OnDevices(a operator, all *Processes, transposed bool) Resident {
	p, ok := a.(Resident)
	if plan, is := a.(*msrep.Plan[float64]); is && plan.Deterministic() || all != nil && all.Op.Fixed() {
		return nil
	}
	if !ok || !p.Resident(msrep.NoTrans) || transposed && !p.Resident(msrep.Trans) {
		return nil
	}
	return p
}

// NewDevice returns a space on the devices of an operator.
func NewDevice(ctx context.Context, a Resident, m preconditioner, all *Processes) *device {
	return &device{work: work{Ctx: ctx, procs: all}, a: a, m: m, order: orderOf(a)}
}

// Load copies b, if there is one, and x to the devices.
func (s *device) Load(b, x []float64) (bv, xv Vector) {
	bv = None
	if b != nil {
		bv = s.Zero()
		s.do(func() error { return s.write(s.v[bv], b) })
	}
	xv = s.Column()
	s.x, s.out = xv, x
	s.do(func() error { return s.write(s.v[xv], x) })
	m, isDiagonal := s.m.(diagonal)
	switch {
	case s.m == nil || s.runsOnVectors() != nil && !isDiagonal:
	case isDiagonal:
		i := s.Column()
		s.inverse = s.v[i]
		s.do(func() error { return s.write(s.inverse, m.Diagonal()) })
	default:
		s.do(func() error {
			if have, ok := mem.Fits(16 * int64(len(x))); !ok {
				return sparse.Inputf("preconditioner", "%d elements: its vectors in host memory take %d bytes, %d are available", len(x), 16*len(x), have)
			}
			s.r, s.z = make([]float64, len(x)), make([]float64, len(x))
			return nil
		})
	}
	return bv, xv
}

// do runs f unless there was an error before.
func (s *device) do(f func() error) {
	if s.Err == nil {
		s.Err = f()
	}
}

func (s *device) Zero() Vector { return s.zeros(s.a.RowVector) }

func (s *device) Column() Vector { return s.zeros(s.a.ColumnVector) }

func (s *device) zeros(vector func() (*msrep.Vector[float64], error)) Vector {
	s.v = append(s.v, nil)
	k := len(s.v) - 1
	s.do(func() (err error) {
		s.v[k], err = vector()
		return err
	})
	return Vector(k)
}

// Fetch copies the solution to the host.
func (s *device) Fetch() error {
	s.do(func() error { return s.read(s.v[s.x], s.out) })
	return s.Err
}

func (s *device) Free() error {
	var errs []error
	for _, c := range s.scalars {
		errs = append(errs, c.Close())
	}
	for _, v := range s.v {
		errs = append(errs, v.Close())
	}
	return errors.Join(errs...)
}

func (s *device) Product(a float64, x Vector, b float64, y Vector) {
	s.multiply(func(ctx context.Context) error {
		return s.a.Apply(ctx, msrep.NoTrans, a, s.v[x], b, s.v[y])
	})
}

func (s *device) Transposed(a float64, x Vector, b float64, y Vector) {
	s.multiply(func(ctx context.Context) error {
		return s.a.Apply(ctx, msrep.Trans, a, s.v[x], b, s.v[y])
	})
}

func (s *device) Preconditioned(r, z Vector) Vector {
	if s.m == nil {
		return r
	}
	s.precondition(s.m, func() error {
		if s.inverse != nil {
			return s.v[z].Multiply(s.inverse, s.v[r])
		}
		if m := s.runsOnVectors(); m != nil {
			return m.ApplyVector(s.Ctx, s.v[r], s.v[z])
		}
		err := s.read(s.v[r], s.r)
		if _, several := s.m.(collective); err != nil && !several {
			return err
		}
		if err = errors.Join(err, s.m.Apply(s.r, s.z)); err != nil {
			return err
		}
		return s.write(s.v[z], s.z)
	})
	return z
}

func (s *device) Set(a float64, src, dst Vector) {
	s.do(func() error {
		if src == dst {
			return s.v[dst].Scale(a)
		}
		return s.v[dst].Axpby(a, s.v[src], 0)
	})
}

// Random computes the numbers in host memory: a solve calls it a few times only.
func (s *device) Random(x Vector, seed uint64) {
	s.do(func() error {
		if have, ok := mem.Fits(8 * int64(s.v[x].Len())); !ok {
			return sparse.Inputf("x", "%d elements: a copy in host memory takes %d bytes, %d are available", s.v[x].Len(), 8*s.v[x].Len(), have)
		}
		v := make([]float64, s.v[x].Len())
		random(v, seed, s.procs.firstElement())
		return s.write(s.v[x], v)
	})
}

// Round copies the vector to the host and back. A solve calls it at most once.
func (s *device) Round(x Vector, exp int) {
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
func (s *device) sums(h []float64, f func() error) {
	s.do(f)
	if s.procs != nil {
		s.Err = s.procs.Total(s.Ctx, h, h, s.Err)
	}
}

// sum runs f and adds its sum over all processes. After an error it returns 0.
func (s *device) sum(f func() (float64, error)) float64 {
	var h [1]float64
	s.sums(h[:], func() (err error) {
		h[0], err = f()
		return err
	})
	return h[0]
}

func (s *device) Dot(x, y Vector) float64 {
	return s.sum(func() (float64, error) { return s.v[x].Dot(s.v[y]) })
}

func (s *device) Dots(x, y Vector) (xy, xx float64) {
	h := make([]float64, 2)
	s.sums(h, func() error { return s.v[x].Project(h, s.vectors([]Vector{y, x})) })
	return h[0], h[1]
}

func (s *device) Axpy(a float64, x, y Vector) float64 {
	return s.Combine(a, []float64{1}, []Vector{x}, y)
}

// UpdateResidual also computes x = x + a*p: a step is one operation of the devices.
func (s *device) UpdateResidual(a float64, p, q, x, r, z Vector) (rr, rz float64) {
	rr = s.Compute(kernels.CGStep, []float64{a}, p, q, x, r)[0]
	if s.m == nil {
		return rr, rr
	}
	return rr, s.Dot(r, s.Preconditioned(r, z))
}

func (s *device) UpdateDirection(_, b float64, r, z, p, _ Vector) {
	if s.m == nil {
		z = r
	}
	s.do(func() error { return s.v[p].Axpby(1, s.v[z], b) })
}

func (s *device) UpdateSolution(float64, Vector, Vector) {}

func (s *device) Compute(f *kernels.Formula, numbers []float64, v ...Vector) []float64 {
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

func (s *device) vectors(v []Vector) []*msrep.Vector[float64] {
	out := make([]*msrep.Vector[float64], len(v))
	for j, k := range v {
		out[j] = s.v[k]
	}
	return out
}

func (s *device) Project(v []Vector, u, w Vector) (g, h []float64) {
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

func (s *device) SubtractProjection(g, h []float64, v []Vector, u, w Vector) float64 {
	s.Add(-1, g, v, u)
	return s.Combine(-1, h, append(slices.Clip(v), u), w)
}

func (s *device) Add(a float64, h []float64, v []Vector, w Vector) {
	s.do(func() error { return s.v[w].Add(scaled(a, h), s.vectors(v)) })
}

func (s *device) Combine(a float64, h []float64, v []Vector, w Vector) float64 {
	return s.sum(func() (float64, error) { return s.v[w].Combine(scaled(a, h), s.vectors(v)) })
}

// scaled returns a*h.
func scaled(a float64, h []float64) []float64 {
	out := make([]float64, len(h))
	vec.ScaleTo(a, h, out)
	return out
}
