package space

import (
	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
)

// CG is the iterations of the conjugate gradient method on devices. The devices compute the sums and the scalars: the host
// queues iterations and waits only in Start and Look.
type CG struct {
	s             *device
	scalars       *devvec.Scalars
	p, q, x, r, z Vector
	norm, tol     float64
	sums          int // of an iteration: r'r and, with a preconditioner, r'z
	state         []float64
	seen          int // iterations that Look has returned
}

// NewCG returns nil if the space or its preconditioner needs the host in every iteration. p is the search direction, q its
// product, x the solution, r its residual and z the preconditioned residual, r itself without a preconditioner. The relative
// residual is |r|/norm. At most ahead iterations are queued between two calls of Look.
func NewCG(of Space, p, q, x, r, z Vector, norm, tol float64, ahead int) *CG {
	s, ok := of.(*device)
	if !ok || s.procs != nil || s.m != nil && s.inverse == nil {
		return nil
	}
	c := &CG{s: s, p: p, q: q, x: x, r: r, z: z, norm: norm, tol: tol, sums: 1, state: make([]float64, kernels.CGResiduals+ahead)}
	if s.inverse != nil {
		c.sums = 2
	} else {
		c.z = r
	}
	s.do(func() (err error) {
		if c.scalars, err = devvec.NewScalars(s.v[r], len(c.state), 2); err == nil {
			s.scalars = append(s.scalars, c.scalars)
		}
		return err
	})
	return c
}

// Start begins with the direction in p; rz is r'z.
func (c *CG) Start(rz float64) {
	clear(c.state)
	c.state[kernels.CGStateRZ] = rz
	c.seen = 0
	c.s.do(func() error { return c.scalars.Write(c.state) })
}

// Iterate queues an iteration. After an iteration that stopped the solve, or that broke down, it changes neither x nor r.
func (c *CG) Iterate() {
	s := c.s
	s.Product(1, c.p, 0, c.q)
	s.do(func() error { return c.scalars.Dot(0, s.v[c.p], s.v[c.q]) })
	s.do(func() error { return c.scalars.Total(1) })
	s.do(func() error {
		return c.scalars.Launch(func(state, totals kernels.Array[float64]) kernels.Operation {
			return &kernels.CGAlpha{PQ: totals.Sub(0, 1), State: state}
		})
	})
	s.do(func() error {
		return c.scalars.Compute(kernels.CGStep, kernels.CGStateAlpha, 0, s.v[c.p], s.v[c.q], s.v[c.x], s.v[c.r])
	})
	if s.inverse != nil {
		s.do(func() error { return s.v[c.z].Multiply(s.inverse, s.v[c.r]) })
		s.do(func() error { return c.scalars.Dot(1, s.v[c.r], s.v[c.z]) })
	}
	s.do(func() error { return c.scalars.Total(c.sums) })
	s.do(func() error {
		return c.scalars.Launch(func(state, totals kernels.Array[float64]) kernels.Operation {
			return &kernels.CGBeta{Sums: totals.Sub(0, int64(c.sums)), Norm: c.norm, Tol: c.tol, State: state}
		})
	})
	s.do(func() error {
		return c.scalars.Compute(kernels.CGDirection, kernels.CGStateBeta, 0, s.v[c.z], s.v[c.p])
	})
}

// Look waits for the queued iterations and returns the r'r of each that ended. They are fewer than were queued where one
// stopped the solve: the last of them, if |r|/norm is at most tol or not finite; otherwise the next one, because r'z or p'q
// is not positive or not finite. rz and pq are the last of these numbers.
func (c *CG) Look() (rr []float64, rz, pq float64) {
	c.s.do(func() error { return c.scalars.Read(c.state) })
	if c.s.Err != nil {
		return nil, 0, 0
	}
	residuals := c.state[kernels.CGResiduals:]
	ended := int(c.state[kernels.CGStateSteps])
	for k := c.seen; k < ended; k++ {
		rr = append(rr, residuals[k%len(residuals)])
	}
	c.seen = ended
	return rr, c.state[kernels.CGStateRZ], c.state[kernels.CGStatePQ]
}
