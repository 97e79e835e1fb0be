package amg

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/coarsen"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/internal/par"
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

// least is the smallest factor by which the number of rows must fall from one level to the next.
const least = 1.25

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
		if err := invertible(l); err != nil {
			return nil, err
		}
		l.smoother = multigrid.Smoother(opt.Degree, l.rho, symmetric)
		if c.P.Cols == 0 || float64(c.P.Cols)*least > float64(a.Rows) || len(levels) == opt.MaxLevels {
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

// invertible checks the reciprocals of the diagonal of a level.
func invertible(l *level) error {
	var first atomic.Int64
	first.Store(math.MaxInt64)
	par.Range(int64(len(l.inverse)), 1<<14, func(lo, hi int64) {
		for i, d := range l.inverse[lo:hi] {
			if d-d != 0 || d == 0 {
				for at := lo + int64(i); ; {
					if old := first.Load(); old <= at || first.CompareAndSwap(old, at) {
						return
					}
				}
			}
		}
	})
	if i := first.Load(); i < math.MaxInt64 {
		return sparse.Inputf("matrix", "its diagonal element in row %d is zero, or too small or large to be inverted", i)
	}
	if !(l.rho > 0 && l.rho <= math.MaxFloat64) {
		return sparse.Inputf("matrix", "the largest eigenvalue of D^-1 A is not finite: scale the matrix")
	}
	return nil
}
