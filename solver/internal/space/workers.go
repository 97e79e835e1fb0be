package space

import "github.com/msrep-go/msrep/internal/par"

// Workers is an operator with workers that can also run operations on vectors between products, such as a msrep.Plan;
// see msrep.Plan.Range.
type Workers interface {
	Range(n, grain int, f func(lo, hi int)) error
}

// OnWorkers splits the range [0, n) of chunks into pieces and calls f(lo, hi) for each: on the workers of operator a
// if it has workers, else on goroutines.
func OnWorkers(a any, n int, f func(lo, hi int)) error {
	if t, ok := a.(Workers); ok {
		return t.Range(n, 1, f)
	}
	par.Range(int64(n), grain, func(lo, hi int64) { f(int(lo), int(hi)) })
	return nil
}
