package partition

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// Within cuts a part of a compressed matrix once more into n parts, for the
// workers of one device: Share by merge path with equal weights, so that entries
// and owned majors together are shared out evenly. The majors that p owns are
// owned by one of the new parts each, and if p has a carry, so has the first of
// them that holds entries.
//
// ptr may be the pointers of the whole matrix or a window of them with p shifted
// to it (see Shift). It fails with a *sparse.InputError when n is not in
// [1, MaxParts] or p does not lie within ptr.
func Within(ptr []int64, p Part, n int) ([]Part, error) {
	if err := checkPieces(n); err != nil {
		return nil, err
	}
	return Share(ptr, p, slices.Repeat([]int{1}, n), RuleMergePath)
}

// WithinCOO is Within for the sorted index of a COO matrix.
func WithinCOO(idx []int32, p Part, n int) ([]Part, error) {
	if err := checkPieces(n); err != nil {
		return nil, err
	}
	return ShareCOO(idx, p, slices.Repeat([]int{1}, n), RuleMergePath)
}

func checkPieces(n int) error {
	if n < 1 || n > MaxParts {
		return sparse.Inputf("parts", "%d: a part is split into 1 to %d", n, MaxParts)
	}
	return nil
}
