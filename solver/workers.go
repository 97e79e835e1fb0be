package solver

import "github.com/msrep-go/msrep/internal/par"

// workers is an operator whose workers also do what is done with vectors between products, as those
// of a msrep.Plan do; see msrep.Plan.Range.
type workers interface {
	Range(n, grain int, f func(lo, hi int)) error
}

// onWorkers cuts n blocks into pieces and calls f(lo, hi) for each, on the workers of an operator
// where it has some.
func onWorkers(a any, n int, f func(lo, hi int)) error {
	if t, ok := a.(workers); ok {
		return t.Range(n, 1, f)
	}
	par.Range(int64(n), grain, func(lo, hi int64) { f(int(lo), int(hi)) })
	return nil
}
