package amg

import "github.com/msrep-go/msrep/internal/multigrid"

// newCycle returns the cycle of a hierarchy. least is the argument of multigrid.Visits, operations has the operations of
// level k, and vector returns a new vector of it.
func newCycle[T any](levels []*level, opt Options, least int64, operations func(k int) multigrid.Level[T], vector func(k int) (T, error)) (multigrid.Cycle[T], error) {
	var c multigrid.Cycle[T]
	for k, l := range levels {
		s := multigrid.Stage[T]{Level: operations(k), Visits: opt.Visits}
		if s.Visits == 0 && k+1 < len(levels) {
			s.Visits = multigrid.Visits(l.a.NNZ(), levels[k+1].a.NNZ(), least)
		}
		var needed []*T
		if k > 0 {
			needed = append(needed, &s.B, &s.X)
		}
		if l.solve == nil {
			s.Smoother = l.smoother
			needed = append(needed, &s.R, &s.D)
		}
		for _, v := range needed {
			var err error
			if *v, err = vector(k); err != nil {
				return nil, err
			}
		}
		c = append(c, s)
	}
	return c, nil
}
