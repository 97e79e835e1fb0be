package amg

import (
	"context"

	"github.com/msrep-go/msrep/internal/coarsen"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/sparse"
)

// level is a level of a hierarchy while it is built.
type level struct {
	a        *sparse.CSR[float64]
	p, r     *sparse.CSR[float64] // nil on the coarsest level
	inverse  []float64            // 1/diagonal; nil on a level that is solved
	rho      float64              // bound of the largest eigenvalue of D^-1 A
	smoother []multigrid.Term     // nil on a level that is solved
	solve    *sparse.CSR[float64] // dense inverse of a; nil unless the level is the coarsest and small
}

// build returns the levels of a hierarchy for a, the finest first. symmetric states that A' = A.
func build(ctx context.Context, a *sparse.CSR[float64], symmetric bool, opt Options) ([]*level, error) {
	near, co := opt.NearNull, coarsen.Options{Strength: opt.Strength, Block: opt.Block, Unsymmetric: !symmetric}
	var levels []*level
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := &level{a: a}
		levels = append(levels, l)
		if a.Rows <= opt.CoarseSize {
			var err error
			l.solve, err = multigrid.PseudoInverse(a)
			return levels, err
		}
		c, err := coarsen.Coarsen(a, near, co)
		if err != nil {
			return nil, err
		}
		l.rho, l.inverse = c.Rho, c.InverseDiagonal
		if err := multigrid.CheckSmoother(l.inverse, 0, l.rho); err != nil {
			return nil, err
		}
		l.smoother = multigrid.Smoother(opt.Degree, l.rho, symmetric)
		if !multigrid.Shrinks(a.Rows, c.P.Cols) || len(levels) == opt.MaxLevels {
			l.smoother = multigrid.Smoother(MaxDegree, l.rho, symmetric) // in place of a solution
			return levels, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.p, l.r = c.P, c.R
		if l.r == nil {
			l.r = spgemm.Transpose(l.p, nil)
		}
		if a, err = spgemm.Triple(l.r, a, l.p, nil); err != nil {
			return nil, err
		}
		near, co.Block, co.Nodes = c.Near, 0, c.Nodes
		co.Level++
	}
}
