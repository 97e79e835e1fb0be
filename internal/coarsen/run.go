package coarsen

import (
	"runtime"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/spgemm"
)

// runner divides loops among workers.
type runner struct {
	do   spgemm.Run
	most int // largest number of pieces of a loop
}

func runOf(do spgemm.Run) runner {
	if do == nil {
		do = par.Do
	}
	return runner{do, 2 * runtime.GOMAXPROCS(0)}
}

// ranges divides [0, n) into pieces of at least grain items and calls f for each. Results must not depend on the pieces.
func (r runner) ranges(n, grain int, f func(lo, hi int)) {
	r.pieces(n, grain, func(_, lo, hi int) { f(lo, hi) })
}

// pieces is ranges, but also passes the number of the piece to f, which is below most.
func (r runner) pieces(n, grain int, f func(piece, lo, hi int)) {
	if n == 0 {
		return
	}
	count := min(max(n/grain, 1), r.most)
	r.do(count, func(i int) {
		f(i, int(par.Cut(int64(n), count, i)), int(par.Cut(int64(n), count, i+1)))
	})
}

// sum returns the sum of part(lo, hi) over all rows of A, in all processes.
func (s *setup) sum(part func(lo, hi int) float64) float64 {
	if s.over.Sum != nil {
		return s.over.Sum(part)
	}
	return s.run.sum(s.a.Rows, part)
}

// Chunk is the number of elements in a partial sum. It is fixed, so that sums have the same bits for any number of workers.
const Chunk = 1 << 13

// sum returns the sum of part(lo, hi) over the chunks of [0, n).
func (r runner) sum(n int, part func(lo, hi int) float64) float64 {
	chunks := (n + Chunk - 1) / Chunk
	sums := make([]float64, chunks)
	r.ranges(chunks, 2, func(lo, hi int) {
		for c := lo; c < hi; c++ {
			sums[c] = part(c*Chunk, min((c+1)*Chunk, n))
		}
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total
}

// prefix turns counts into offsets: before the call ptr[i+1] is the count of i, after it the sum of the counts up to i.
func prefix(ptr []int64) {
	for i := 1; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
}
