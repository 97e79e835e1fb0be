package amg

import "github.com/msrep-go/msrep/internal/multigrid"

// newCycle returns the cycle of a hierarchy. operations has the operations of level k, and vector returns a new vector of it.
func newCycle[T any](levels []*level, opt Options, operations func(k int) multigrid.Level[T], vector func(k int) (T, error)) (multigrid.Cycle[T], error) {
	var c multigrid.Cycle[T]
	for k, l := range levels {
		s := multigrid.Stage[T]{Level: operations(k), Visits: opt.Visits}
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
