package spgemm

import (
	"math"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// These are in units of a multiplication.
	rowWork   = 4       // work of a row without multiplications
	smallWork = 1 << 14 // least work of a worker
	minPiece  = 1 << 12 // least work of a piece
	maxPiece  = 1 << 17 // largest work of a piece

	perWorker = 16 // pieces for each worker, within these limits
)

// Multiplications returns the number of multiplications in A B, given Work: the number of entries of row k of B, summed over
// all entries (i, k) of A. It is the largest int64 if there are more.
func Multiplications(work []int64) int64 {
	rows := len(work) - 1
	if work[rows] == math.MaxInt64 {
		return math.MaxInt64
	}
	return work[rows] - rowWork*int64(rows)
}

// Work returns prefix sums of the work of the rows of A B: element i is that of rows 0 to i-1. The work of a row is its
// number of multiplications plus rowWork. Sums saturate at the largest int64.
func Work[V sparse.Value](on On, a, b *sparse.CSR[V]) []int64 {
	return traitsOf(on, a, b, false).work
}

// rowCut is par.Cut for rows.
func rowCut(n, parts, i int) int { return int(par.Cut(int64(n), parts, i)) }

// cut divides rows into pieces of about equal work, given Work. It returns the first row of each piece, then the number of
// rows.
func cut(sum []int64, workers int) []int {
	rows := len(sum) - 1
	total := sum[rows]
	n := int64(1)
	if workers > 1 || total > maxPiece {
		n = max(min(max(total/maxPiece, min(int64(workers)*perWorker, total/minPiece)), int64(rows)), 1)
	}
	cuts := make([]int, 1, n+1)
	for i := int64(1); i < n; i++ {
		at := sort.Search(rows, func(r int) bool { return sum[r+1] > par.Cut(total, int(n), int(i)) })
		if at > cuts[len(cuts)-1] {
			cuts = append(cuts, at)
		}
	}
	return append(cuts, rows)
}
