package solver

import (
	"errors"
	"math"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// iterate runs one iteration of all systems.
func (c *manyCG) iterate() error {
	if err := c.multiply(1, c.p, 0, c.q); err != nil {
		return err
	}
	pq, _ := c.sums(func(lo, hi int, s, _ []float64) { vec.DotMany(c.p[lo:hi], c.q[lo:hi], s) })
	if c.host.Err != nil { // the sums are incomplete and must not be used
		return c.host.Err
	}
	for j, s := range c.columns {
		s.alpha = s.rz / pq[j]
		if why := notPositive(s.rz, pq[j]); why != "" {
			s.alpha, s.err = 0, s.convergenceError(ErrBreakdown, "%s", why) // no step
		}
	}
	c.updateResiduals()
	c.iterations++
	worst := 0.0
	for _, s := range c.columns {
		if s.err != nil {
			continue
		}
		norm := math.Sqrt(s.rr)
		worst = max(worst, norm/s.norm)
		var gaveUp *ConvergenceError
		if s.near, s.err = s.recordIteration(norm); s.err != nil && !errors.As(s.err, &gaveUp) {
			return s.err
		}
	}
	if c.opt.Progress != nil {
		c.opt.Progress(c.iterations, worst)
	}
	for j, s := range c.columns {
		if s.near || s.err != nil {
			c.updateSolution(j)
		}
		if c.host.Err != nil {
			return c.host.Err
		}
	}
	c.removeDone()
	return c.updateDirections()
}

// updateResiduals computes res = res - alpha*q and r'r. Without a preconditioner or with Jacobi it computes r'M*r too, and
// with Jacobi q = M*res.
func (c *manyCG) updateResiduals() {
	a := c.factors(func(s *column) float64 { return -s.alpha })
	m, d := len(c.columns), c.host.Inverse
	rr, rz := c.sums(func(lo, hi int, s, t []float64) {
		q, r := c.q[lo:hi], c.res[lo:hi]
		vec.AxpyMany(a, q, r, s)
		if d != nil {
			vec.ScaleMany(m, d[lo/m:hi/m], r, q)
			vec.DotMany(r, q, t)
		}
	})
	if d == nil {
		rz = rr
	}
	for j, s := range c.columns {
		s.previous, s.rr, s.rz = s.rz, rr[j], rz[j]
	}
}

// updateSolution computes x = x + alpha*p for system j, which failed or is near its solution. It closes the system, or
// restarts it where the true residual is above the tolerance.
func (c *manyCG) updateSolution(j int) {
	s := c.columns[j]
	c.fetch(j)
	if s.near {
		s.res.Products++
		var done bool
		if done, s.err = s.start(c.r, 0.5); !done {
			c.multiVector(c.x).Set(j, c.host.V[c.one])
			c.multiVector(c.res).Set(j, c.host.V[c.r])
			z := s.Preconditioned(c.r, c.one)
			c.multiVector(c.q).Set(j, c.host.V[z])
			s.alpha, s.rz, s.previous, s.near = 0, s.Dot(c.r, z), 0, false
			return
		}
	}
	c.close(s)
}

// fetch copies b and x of system j to the space for one system and adds the pending step to x.
func (c *manyCG) fetch(j int) {
	s, m := c.columns[j], len(c.columns)
	x, b := c.host.V[c.one], c.host.V[c.right]
	c.host.Each(c.host.N, func(lo, hi int) {
		rowsFrom(c.b, lo).Get(s.number, b[lo:hi])
		space.ScaleBy(b[lo:hi], -s.exp)
		rowsFrom(c.multiVector(c.x), lo).Get(j, x[lo:hi])
		for i := lo; s.alpha != 0 && i < hi; i++ {
			x[i] += float64(s.alpha * c.p[i*m+j])
		}
	})
}

// close stores the solution of a system after fetch. It verifies the residual after an error or a scaled solve.
func (c *manyCG) close(s *column) {
	if s.err != nil || s.exp != 0 {
		s.res.Products++
		s.err = s.verify(s.err, func() space.Vector { return c.r })
	}
	x := c.host.V[c.one]
	c.host.Each(c.host.N, func(lo, hi int) {
		space.ScaleBy(x[lo:hi], s.exp)
		rowsFrom(c.out, lo).Set(s.number, x[lo:hi])
	})
	s.done = true
}

// updateDirections computes x = x + alpha*p and the next directions p = M*res + beta*p.
func (c *manyCG) updateDirections() error {
	if len(c.columns) == 0 || c.host.Err != nil {
		return c.host.Err
	}
	if err := c.precondition(); err != nil {
		return err
	}
	z := c.res
	if c.opt.Precond != nil {
		z = c.q
	}
	a := c.factors(func(s *column) float64 { return s.alpha })
	b := c.factors(func(s *column) float64 {
		if s.previous == 0 {
			return 0
		}
		return s.rz / s.previous
	})
	c.onWorkers(func(from, to int) {
		c.eachChunk(from, to, func(_, lo, hi int) { vec.UpdateDirectionMany(a, b, z[lo:hi], c.p[lo:hi], c.x[lo:hi]) })
	})
	return c.host.Err
}

// precondition computes q = M*res and r'M*r, column by column, where updateResiduals has not.
func (c *manyCG) precondition() error {
	if c.opt.Precond == nil || c.host.Inverse != nil {
		return nil
	}
	for j, s := range c.columns {
		c.multiVector(c.res).Get(j, c.host.V[c.r])
		z := s.Preconditioned(c.r, c.one)
		if c.host.Err != nil {
			return c.host.Err
		}
		s.rz = s.Dot(c.r, z)
		c.multiVector(c.q).Set(j, c.host.V[z])
	}
	return nil
}
