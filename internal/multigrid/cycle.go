package multigrid

// Level has the operations of one level. A is its matrix, D the diagonal of A, P the prolongator from the next, coarser level,
// and R the restriction to that level. Vectors b, x, r and d belong to this level, coarse belongs to the next one.
type Level[T any] interface {
	Product(alpha float64, x T, beta float64, y T) error // y = alpha*A*x + beta*y
	Restrict(r, coarse T) error                          // coarse = R*r
	Prolong(coarse, x T) error                           // x = x + P*coarse
	Copy(b, r T) error                                   // r = b

	// Start and Step begin and continue the smoother.
	//
	//	Start  d = c * D^-1 b, then x = d and r = b
	//	Step   d = a*d + c * D^-1 r, then x = x + d
	Start(c float64, b, d, x, r T) error
	Step(a, c float64, r, d, x T) error

	// Solve computes x with A x = b. It is only called on a coarsest level without smoother.
	Solve(b, x T) error
}

// Stage is a level in a cycle, with its working vectors.
type Stage[T any] struct {
	Level[T]
	Smoother []Term // nil on a coarsest level that Solve solves
	B, X     T      // right-hand side and solution; not used on the finest level
	R, D     T      // residual and step of the smoother; not used without smoother
	Visits   int    // how often a visit to this level visits the next one: 1 is a V-cycle, 2 a W-cycle
}

// Visits returns how often a visit to a level with fine entries visits the next one, with coarse entries. With 2 a cycle
// takes more time and a solve fewer iterations, above all on large grids. So it is 2 where the next level takes little time:
// where it has at most 2/5 of the entries, but at least least, because the time of smaller levels is mostly that to start
// their operations.
func Visits(fine, coarse, least int64) int {
	if coarse >= least && coarse <= fine/5*2 {
		return 2
	}
	return 1
}

// LeastOnHost is the argument least of Visits for levels in host memory.
const LeastOnHost = 1 << 14

// Cycle has the levels of a hierarchy, the finest first.
type Cycle[T any] []Stage[T]

// Apply computes x = M b, where M is one cycle that begins with x = 0. M is symmetric if all A are, R = P', and Solve
// multiplies by a symmetric matrix, because the smoothers before and after the coarse level are the same polynomial.
func (c Cycle[T]) Apply(b, x T) error { return c.visit(0, b, x, true) }

// visit improves x on level k. zero states that x is 0, whatever its elements are.
func (c Cycle[T]) visit(k int, b, x T, zero bool) error {
	s := &c[k]
	if k == len(c)-1 && s.Smoother == nil {
		return s.Solve(b, x)
	}
	if err := s.smooth(b, x, zero); err != nil {
		return err
	}
	if k == len(c)-1 {
		return nil
	}
	if err := s.Product(-1, s.D, 1, s.R); err != nil { // the residual after the last step of the smoother
		return err
	}
	next := &c[k+1]
	if err := s.Restrict(s.R, next.B); err != nil {
		return err
	}
	visits := s.Visits
	if k+1 == len(c)-1 {
		visits = 1 // the solution there is exact
	}
	for i := range visits {
		if err := c.visit(k+1, next.B, next.X, i == 0); err != nil {
			return err
		}
	}
	if err := s.Prolong(next.X, x); err != nil {
		return err
	}
	return s.smooth(b, x, false)
}

// smooth improves x by the steps of the smoother; zero is as for visit. Afterwards R - A D is the residual b - A x.
func (s *Stage[T]) smooth(b, x T, zero bool) error {
	t := s.Smoother
	if zero {
		if err := s.Start(t[0].C, b, s.D, x, s.R); err != nil {
			return err
		}
		t = t[1:]
	} else {
		if err := s.Copy(b, s.R); err != nil {
			return err
		}
		if err := s.Product(-1, x, 1, s.R); err != nil {
			return err
		}
		if err := s.Step(0, t[0].C, s.R, s.D, x); err != nil {
			return err
		}
		t = t[1:]
	}
	for _, v := range t {
		if err := s.Product(-1, s.D, 1, s.R); err != nil {
			return err
		}
		if err := s.Step(v.A, v.C, s.R, s.D, x); err != nil {
			return err
		}
	}
	return nil
}
