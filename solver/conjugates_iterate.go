package solver

import (
	"errors"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/vec"
)

// iterate does an iteration of all systems.
func (c *conjugates) iterate() error {
	if err := c.multiply(1, c.p, 0, c.q); err != nil {
		return err
	}
	pq := c.sums(func(lo, hi int, sums []float64) { vec.DotMany(c.p[lo:hi], c.q[lo:hi], sums) })
	alpha := make([]float64, len(pq))
	for j, s := range c.columns {
		if why := notPositive(c.rz[j], pq[j]); why != "" {
			s.done, s.err = true, s.give(ErrBreakdown, "%s", why)
			continue // alpha = 0: it stays where it is
		}
		alpha[j] = c.rz[j] / pq[j]
	}
	rr := c.sums(func(lo, hi int, sums []float64) {
		vec.StepMany(alpha, c.p[lo:hi], c.q[lo:hi], c.x[lo:hi], c.res[lo:hi], sums)
	})
	c.round++
	worst := 0.0
	for j, s := range c.columns {
		if s.rr = rr[j]; !s.done {
			worst = max(worst, math.Sqrt(rr[j])/s.norm)
			if err := c.note(j, math.Sqrt(rr[j])); err != nil {
				return err
			}
		}
	}
	if c.opt.Progress != nil {
		c.opt.Progress(c.round, worst)
	}
	for j := range c.columns {
		if c.settle(j); c.host.err != nil {
			return c.host.err
		}
	}
	c.compact()
	return c.turn(false)
}

// note ends an iteration of a system.
func (c *conjugates) note(j int, norm float64) error {
	s := c.columns[j]
	near, err := s.note(norm)
	var gaveUp *ConvergenceError
	switch {
	case err != nil && !errors.As(err, &gaveUp):
		return err
	case err != nil:
		s.done, s.err = true, err
	case near: // says the recurrence
		c.load(s)
		c.block(c.x).Get(j, c.host.v[c.one])
		s.res.Products++
		s.done, s.err = s.start(c.r, 0.5)
		if !s.done {
			c.block(c.res).Set(j, c.host.v[c.r])
			s.restart = true
			s.rr = s.dot(c.r, c.r)
		}
	}
	return c.host.err
}

// settle judges a system that is done, where what is known of it is not enough.
func (c *conjugates) settle(j int) {
	s := c.columns[j]
	if !s.done || s.err == nil && s.exp == 0 {
		return
	}
	c.load(s)
	c.block(c.x).Get(j, c.host.v[c.one])
	s.res.Products++
	s.err = s.judge(s.err, func() vector { return c.r })
}

// turn makes the next directions, from the residuals alone where a system begins.
func (c *conjugates) turn(first bool) error {
	if err := c.precondition(); err != nil {
		return err
	}
	next := make([]float64, len(c.columns))
	if c.opt.Precond != nil {
		next = c.sums(func(lo, hi int, sums []float64) { vec.DotMany(c.res[lo:hi], c.z[lo:hi], sums) })
	}
	beta := make([]float64, len(next))
	for j, s := range c.columns {
		if c.opt.Precond == nil {
			next[j] = s.rr
		}
		if !first && !s.restart {
			beta[j] = next[j] / c.rz[j]
		}
		s.restart = false
	}
	c.blocks(func(_, lo, hi int) { vec.XpbyMany(c.z[lo:hi], beta, c.p[lo:hi]) })
	c.rz = next
	return c.host.err
}

// precondition is z = M*r, column by column.
func (c *conjugates) precondition() error {
	if c.opt.Precond == nil {
		return nil
	}
	t := time.Now()
	defer func() { c.host.precond += time.Since(t) }()
	if m, ok := c.opt.Precond.(*jacobi); ok {
		cols := len(c.columns)
		c.blocks(func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				c.z[i] = m.inverse[i/cols] * c.res[i]
			}
		})
		return nil
	}
	r, z := c.host.v[c.r], c.host.v[c.one]
	for j := range c.columns {
		c.block(c.res).Get(j, r)
		if err := c.opt.Precond.Apply(r, z); err != nil {
			return err
		}
		c.block(c.z).Set(j, z)
	}
	return nil
}
