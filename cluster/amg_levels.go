package cluster

import (
	"context"

	"github.com/msrep-go/msrep/internal/coarsen"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
)

// hierarchy is the levels of a multigrid preconditioner over ranks while it is made.
type hierarchy struct {
	ctx         context.Context
	team        *System
	opt         amg.Options
	gather      int64 // levels of up to so many entries are on every rank
	unsymmetric bool

	levels    []*rankLevel
	described []amg.Level
	cut       []int // the rows of the first whole level that the ranks compute of vectors for it
}

// rankLevel is this rank's part of a level.
type rankLevel struct {
	sys     *System          // the ranks that share the level: all, or this one alone
	whole   bool             // every rank has the level as a whole
	a, p, r *Matrix[float64] // p and r are nil on the coarsest level
	prolong *System          // the ranks of p: this one alone if the next level is whole
	inverse []float64        // 1/diagonal; nil on a level that is solved
	rho     float64          // bound of the largest eigenvalue of D^-1 A
	solve   *Matrix[float64] // dense inverse of a; nil unless the level is the coarsest and small
}

// build makes the levels for a. All ranks call it, and get the same error.
func (h *hierarchy) build(a *Matrix[float64]) error {
	near := nearNull{vectors: h.opt.NearNull, block: h.opt.Block}
	for {
		if err := h.team.Agree(h.ctx.Err()); err != nil {
			return err
		}
		if a.NNZ <= h.gather || a.Rows <= h.opt.CoarseSize {
			return h.buildWhole(a, near)
		}
		l := &rankLevel{sys: h.team, prolong: h.team, a: a}
		more, err := h.coarsen(l, &near)
		if err != nil || !more {
			return err
		}
		if a, err = triple(h.team, l.r, l.a, l.p); err != nil {
			return err
		}
	}
}

// buildWhole brings a level to every rank and makes the coarser ones there. All ranks call it, and get the same error.
func (h *hierarchy) buildWhole(a *Matrix[float64], near nearNull) error {
	h.cut = a.RowCut
	m, err := a.whole(h.team.comm)
	if err == nil {
		near, err = near.whole(h.team.comm, a)
	}
	if err == nil {
		alone := h.team.alone()
		if k := len(h.levels); k > 0 { // products with p need no messages
			p := h.levels[k-1].p
			h.levels[k-1].prolong = alone
			h.levels[k-1].p = onOneRank(p.Part)
		}
		err = h.buildAlone(alone, onOneRank(m), near)
	}
	return h.team.Agree(err)
}

// buildAlone makes the levels from a on, which this rank has as a whole.
func (h *hierarchy) buildAlone(sys *System, a *Matrix[float64], near nearNull) error {
	for {
		if err := h.ctx.Err(); err != nil {
			return err
		}
		l := &rankLevel{sys: sys, prolong: sys, whole: true, a: a}
		if a.Rows <= h.opt.CoarseSize {
			h.add(l)
			inverse, err := multigrid.PseudoInverse(a.Part)
			if err == nil {
				l.solve = onOneRank(inverse)
			}
			return err
		}
		more, err := h.coarsen(l, &near)
		if err != nil || !more {
			return err
		}
		if a, err = triple(sys, l.r, l.a, l.p); err != nil {
			return err
		}
	}
}

// add adds a level.
func (h *hierarchy) add(l *rankLevel) {
	h.levels = append(h.levels, l)
	h.described = append(h.described, amg.Level{Rows: l.a.Rows, NNZ: l.a.NNZ, Rho: l.rho})
}

// coarsen adds l and sets its smoother and, unless it is the coarsest level and more is false, p and r. It replaces near by
// that of the next level. The ranks of the level call it.
func (h *hierarchy) coarsen(l *rankLevel, near *nearNull) (more bool, err error) {
	opt := coarsen.Options{Strength: h.opt.Strength, Level: len(h.levels), Unsymmetric: h.unsymmetric}
	c, err := coarsened(l.sys, l.a, *near, opt, h.opt.Deterministic)
	if err == nil {
		l.inverse, l.rho = c.inverse, c.rho
		err = multigrid.CheckSmoother(l.inverse, l.a.First(), l.rho)
	}
	h.add(l)
	if err := l.sys.Agree(err); err != nil {
		return false, err
	}
	if !multigrid.Shrinks(l.a.Rows, c.p.Cols) || len(h.levels) == h.opt.MaxLevels {
		return false, nil
	}
	l.p, l.r, *near = c.p, c.r, c.near
	if l.r == nil {
		l.r, err = l.p.Transpose(l.sys.comm)
	}
	return true, err
}

// alone returns the System of this rank alone, on the same devices.
func (s *System) alone() *System {
	rank := s.comm.Rank()
	return &System{comm: Local(1)[0], local: s.local, hosts: s.hosts[rank : rank+1]}
}

// onOneRank returns a as the matrix of a rank alone.
func onOneRank(a *sparse.CSR[float64]) *Matrix[float64] {
	return &Matrix[float64]{Rows: a.Rows, Cols: a.Cols, NNZ: a.NNZ(), RowCut: []int{0, a.Rows}, ColCut: []int{0, a.Cols}, Part: a}
}

// gatherAll returns a whole vector, joined from the pieces of all ranks. All ranks call it.
func gatherAll[T mem.Elem](c Comm, piece []T) ([]T, error) {
	all, err := toAll(c, mem.Bytes(piece))
	if err != nil {
		return nil, err
	}
	var v []T
	for _, b := range all {
		part, _ := mem.Slice[T](b, int64(len(b))/mem.Size[T]())
		v = append(v, part...)
	}
	return v, nil
}
