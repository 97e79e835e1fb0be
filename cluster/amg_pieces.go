package cluster

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
)

// piece is this rank's part of a level: a multigrid.Level. Its methods return no errors, but store the first one in failed
// and continue, because the other ranks wait for messages of this one.
type piece[V sparse.Value] struct {
	a, p, r *Plan[V] // a is the plan of the inverse on a level that is solved; p and r are nil on the coarsest level
	inverse []V
	whole   *wholeVector[V] // of the next level, if it is on every rank as a whole; else nil
	failed  *error
}

func (l *piece[V]) keep(err error) error {
	if *l.failed == nil {
		*l.failed = err
	}
	return nil
}

func (l *piece[V]) Product(alpha float64, x []V, beta float64, y []V) error {
	return l.keep(l.a.SpMV(context.Background(), msrep.NoTrans, V(alpha), x, V(beta), y))
}

func (l *piece[V]) Restrict(r, coarse []V) error {
	own := coarse
	if l.whole != nil {
		own = l.whole.own
	}
	err := l.keep(l.r.SpMV(context.Background(), msrep.NoTrans, 1, r, 0, own))
	if l.whole != nil {
		err = l.keep(l.whole.share())
	}
	return err
}

func (l *piece[V]) Prolong(coarse, x []V) error {
	return l.keep(l.p.SpMV(context.Background(), msrep.NoTrans, 1, coarse, 1, x))
}

// rangeGrain is the least number of elements for a worker.
const rangeGrain = 1 << 13

func (l *piece[V]) each(f func(lo, hi int)) error {
	n, _ := l.a.Dims()
	return l.keep(l.a.Local(msrep.NoTrans).Range(n, rangeGrain, f))
}

func (l *piece[V]) Copy(b, r []V) error {
	return l.each(func(lo, hi int) { copy(r[lo:hi], b[lo:hi]) })
}

func (l *piece[V]) Start(c float64, b, d, x, r []V) error {
	return l.each(func(lo, hi int) {
		vec.ChebyshevStart(V(c), l.inverse[lo:hi], b[lo:hi], d[lo:hi], x[lo:hi], r[lo:hi])
	})
}

func (l *piece[V]) Step(a, c float64, r, d, x []V) error {
	return l.each(func(lo, hi int) {
		vec.ChebyshevStep(V(a), V(c), l.inverse[lo:hi], r[lo:hi], d[lo:hi], x[lo:hi])
	})
}

// Solve multiplies by the inverse.
func (l *piece[V]) Solve(b, x []V) error { return l.Product(1, b, 0, x) }

// pieces runs this rank's part of cycles.
type pieces[V sparse.Value] struct {
	sys    *System
	levels []*piece[V]
	cycle  multigrid.Cycle[[]V]
	b, x   []V             // right-hand side and solution on the finest level
	whole  *wholeVector[V] // of the finest level, if it is on every rank as a whole; else nil
	ownX   []V             // this rank's piece of x
	failed error           // first error of the current cycle
}

// newPieces makes the plans and vectors of a hierarchy. All ranks call it.
func newPieces[V sparse.Value](h *hierarchy) (_ *pieces[V], err error) {
	o := &pieces[V]{sys: h.team}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	var broken error // an error of this rank on a level that it has as a whole
	for k, l := range h.levels {
		if l.whole { // without the other ranks
			if broken == nil {
				broken = o.add(h, k)
			}
		} else if err := o.add(h, k); err != nil {
			return nil, err
		}
	}
	if err := h.team.Agree(broken); err != nil {
		return nil, err
	}
	o.b, o.x = make([]V, h.levels[0].a.Part.Rows), make([]V, h.levels[0].a.Part.Rows)
	o.ownX = o.x
	switch k := slices.IndexFunc(h.levels, func(l *rankLevel) bool { return l.whole }); k {
	case -1: // no level is on every rank
	case 0:
		rank := h.team.comm.Rank()
		o.ownX = o.x[h.cut[rank]:h.cut[rank+1]]
		o.whole, err = newWholeVector(h.team, h.cut, o.b)
	default:
		o.levels[k-1].whole, err = newWholeVector(h.team, h.cut, o.cycle[k].B)
	}
	return o, h.team.Agree(err)
}

// add adds the plans and vectors of level k. It takes over the matrices of the level. All ranks that have the level call it.
func (o *pieces[V]) add(h *hierarchy, k int) error {
	l := h.levels[k]
	q := &piece[V]{inverse: values[V](l.inverse), failed: &o.failed}
	o.levels = append(o.levels, q)
	plan := func(to **Plan[V], sys *System, m *Matrix[float64], products int) (err error) {
		if m == nil {
			return nil
		}
		part := *m.Part
		if k == 0 { // the plan changes the indices, which may be those of the caller
			part.ColIdx = slices.Clone(part.ColIdx)
		}
		own := *m
		own.Part = &part
		*to, err = NewPlan(h.ctx, sys, Convert[V](&own), msrep.PlanOptions{
			Deterministic: h.opt.Deterministic, Expected: msrep.Expected{Products: products}, Storage: msrep.Storage{Release: products > 1 && !h.opt.Deterministic},
		})
		return err
	}
	s := multigrid.Stage[[]V]{Level: q, Visits: h.opt.Visits}
	if s.Visits == 0 && k+1 < len(h.described) {
		s.Visits = multigrid.Visits(h.described[k].NNZ, h.described[k+1].NNZ, multigrid.LeastOnHost)
	}
	n := l.a.Part.Rows
	if k > 0 {
		s.B, s.X = make([]V, n), make([]V, n)
	}
	matrix, products, last := l.a, multigrid.Products(l.a.NNZ, h.opt.Degree), k == len(h.levels)-1
	if l.solve != nil {
		matrix, products = l.solve, 1
	} else {
		s.R, s.D = make([]V, n), make([]V, n)
		degree := h.opt.Degree
		if last {
			degree = amg.MaxDegree
		}
		s.Smoother = multigrid.Smoother(degree, l.rho, !h.unsymmetric)
	}
	err := plan(&q.a, l.sys, matrix, products)
	if err == nil {
		err = plan(&q.p, l.prolong, l.p, 1)
	}
	if err == nil {
		err = plan(&q.r, l.sys, l.r, 1)
	}
	if err != nil {
		return err
	}
	o.cycle = append(o.cycle, s)
	return nil
}

// values returns v in the type V.
func values[V sparse.Value](v []float64) []V {
	if same, ok := any(v).([]V); ok {
		return same
	}
	w := make([]V, len(v))
	for i, x := range v {
		w[i] = V(x)
	}
	return w
}

// apply computes z = M r.
func (o *pieces[V]) apply(r, z []float64) error {
	o.failed = nil
	scale, err := o.scaleOf(r)
	if err != nil {
		return err // this rank can no longer reach the others
	}
	b := o.b
	if o.whole != nil {
		b = o.whole.own
	}
	for i, v := range r {
		b[i] = V(v * scale)
	}
	if o.whole != nil {
		o.failed = o.whole.share()
	}
	if err := o.cycle.Apply(o.b, o.x); err != nil {
		return err
	}
	scale = 1 / scale
	for i, v := range o.ownX {
		z[i] = float64(v) * scale
	}
	return o.failed
}

// scaleOf returns multigrid.Scale for the largest element of r on all ranks.
func (o *pieces[V]) scaleOf(r []float64) (float64, error) {
	if mem.Size[V]() == 8 {
		return 1, nil
	}
	most := []float64{0}
	for _, v := range r {
		if v = math.Abs(v); v <= math.MaxFloat64 {
			most[0] = max(most[0], v)
		} else {
			most[0] = math.Inf(1) // also for NaN, which Comm.Max does not allow
		}
	}
	if err := o.sys.comm.Max(most); err != nil {
		return 1, err
	}
	return multigrid.Scale(most[0]), nil
}

// describe adds what this rank sends to the description of the levels.
func (o *pieces[V]) describe(levels []amg.Level) []AMGLevel {
	var out []AMGLevel
	for k, l := range o.levels {
		d := AMGLevel{Level: levels[k], Whole: l.a.sys != o.sys}
		add := func(times int, runs []indexRun) {
			d.Bytes += int64(times) * int64(length(runs)) * mem.Size[V]()
			d.Messages += int64(times) * int64(len(runs))
		}
		if s := o.cycle[k].Smoother; s != nil && l.p == nil {
			add(len(s)-1, l.a.want.out)
		} else if s != nil {
			add(2*len(s), l.a.want.out)
			add(1, l.r.want.out)
			add(1, l.p.want.out)
		}
		shared := l.whole
		if k == 0 && o.whole != nil {
			shared = o.whole
		}
		if shared != nil && len(shared.own) > 0 {
			others := int64(o.sys.comm.Size() - 1)
			d.Messages += others
			d.Bytes += others * int64(len(shared.own)) * mem.Size[V]()
		}
		out = append(out, d)
	}
	return out
}

func (o *pieces[V]) close() error {
	errs := []error{o.whole.close()}
	for _, l := range o.levels {
		errs = append(errs, l.a.Close(), l.p.Close(), l.r.Close(), l.whole.close())
	}
	return errors.Join(errs...)
}

// wholeVector is a vector that each rank has as a whole, and computes its piece of.
type wholeVector[V sparse.Value] struct {
	own  []V
	link Link
}

// newWholeVector makes v the vector, of which each rank has the piece between its cuts. All ranks call it.
func newWholeVector[V sparse.Value](sys *System, cut []int, v []V) (*wholeVector[V], error) {
	rank, bytes, size := sys.comm.Rank(), mem.Bytes(v), int(mem.Size[V]())
	part := func(r int) []byte { return bytes[cut[r]*size : cut[r+1]*size] }
	var out, in []Message
	for r := range sys.comm.Size() {
		if r != rank {
			out, in = append(out, Message{Rank: r, Data: part(rank)}), append(in, Message{Rank: r, Data: part(r)})
		}
	}
	link, err := sys.comm.Link(out, in)
	return &wholeVector[V]{own: v[cut[rank]:cut[rank+1]], link: link}, err
}

// share sends this rank's piece to all ranks and receives theirs.
func (w *wholeVector[V]) share() error {
	if err := w.link.Start(); err != nil {
		return err
	}
	return w.link.Wait()
}

func (w *wholeVector[V]) close() error {
	if w == nil || w.link == nil {
		return nil
	}
	return w.link.Close()
}
