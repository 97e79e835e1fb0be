// Package scatter adds what the workers compute for a transposed product to one vector: each worker adds to a stretch
// of it, and to a vector of its own elsewhere.
package scatter

import (
	"errors"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/sparse"
)

// RunLength is the number of entries that go to one vector. A few of their indices are read in advance, which costs
// as much as some hundred entries.
const RunLength = 1 << 15

// Run calls add for each worker and joins the results: y = beta*y + sum. Worker i owns the stretch of y
// between borders i and i+1. If there is no memory for the workers' own vectors, one worker adds everything.
func Run[V sparse.Value](s *memory.Scratch[V], run workers.Runner, border []int, beta V, y []V, add func(i int, to *Target[V])) error {
	n := len(border) - 1
	if n == 1 {
		return minorAlone(run, n, beta, y, add)
	}
	s.Use.Lock()
	defer s.Use.Unlock()
	spill, err := s.Vectors(n, len(y))
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return minorAlone(run, n, beta, y, add)
	}
	if err != nil {
		return err
	}
	to := make([]Target[V], n)
	for i := range to {
		to[i] = Target[V]{y: y, beta: beta, first: border[i], done: border[i], end: border[i+1], spill: spill[i]}
	}
	left := func() (elements int) {
		for i := range to {
			elements += to[i].end - to[i].done + to[i].hi - to[i].lo
		}
		return elements
	}
	err = run.Joined(n, func(i int) { add(i, &to[i]) }, left, func(i, end int) {
		join(to, par.Cut(int64(len(y)), n, i), par.Cut(int64(len(y)), n, end))
	})
	if err != nil {
		for _, v := range spill {
			clear(v)
		}
	}
	return err
}

// minorAlone makes one worker add the products of all n.
func minorAlone[V sparse.Value](run workers.Runner, n int, beta V, y []V, add func(i int, to *Target[V])) error {
	return run(1, func(int) {
		to := Target[V]{y: y, beta: beta, end: len(y)}
		for i := range n {
			add(i, &to)
		}
		merge.Scale(y[to.done:], beta)
	})
}
