package stats

import (
	"math"

	"github.com/msrep-go/msrep/internal/saturate"
)

// Cost is the cost of a matrix in one format. Numbers beyond 2^63-1 are set to 2^63-1.
type Cost struct {
	Bytes   int64 `json:"bytes"`   // size of all arrays
	Padding int64 `json:"padding"` // stored slots without an entry

	// WarpIterations is Equation (1) of the PELLR paper: the sum, over warps of 32 rows
	// with one row per thread, of the steps of the longest row. Work is Equation (2): 2b-1
	// operations for a row of b steps, 0 for b = 0. A step is an entry of the row; in ell,
	// padding counts as well. Both are nil (null in JSON) for csc and coo, where threads do
	// not own rows.
	WarpIterations *int64 `json:"warp_iterations"`
	Work           *int64 `json:"work"`
}

// The sizes of an index (also of a row length, and of a row number in a permutation) and
// of a pointer.
const (
	indexBytes   = 4
	pointerBytes = 8
)

// costs returns Stats.Formats. With m rows, n columns, s bytes per value and K entries in
// the longest row:
//
//	csr    8(m+1) + (4+s) nnz
//	csc    8(n+1) + (4+s) nnz
//	coo    (8+s) nnz
//	ell    (4+s) m K                 every row padded to K
//	ellr   (4+s) m K + 4m            with the length of each row
//	pellr  (4+s) m K + 8m            rows sorted by length, with their permutation
//
// These are the formulas of the paper; devices round m up to whole warps. The sizes of
// the other formats of sparse/ellpack follow from the lengths of the rows (see
// ellpack.Shape). Formats that exceed ellpack.Bound are listed too.
func costs(s *Stats, rows *rowScan, valueBytes int64) map[string]Cost {
	m, n, longest := int64(s.Rows), int64(s.Cols), s.Row.Max
	entry := indexBytes + valueBytes
	mul, add := saturate.Mul, saturate.Add
	slots := mul(m, longest)
	ell := mul(entry, slots)
	padding := slots - s.NNZ
	if slots == math.MaxInt64 {
		padding = slots
	}
	work := add(s.NNZ, s.NNZ-(m-s.EmptyRows)) // the sum of 2b-1 over rows with b > 0
	ellWork := mul(m, add(longest, max(longest-1, 0)))

	inOrder, sorted, padded := rows.warpIter, rows.sortedWarpIterations(), mul(warps(m), longest)
	some := func(n int64) *int64 { return &n }
	return map[string]Cost{
		"csr": {
			Bytes:          add(mul(pointerBytes, m+1), mul(entry, s.NNZ)),
			WarpIterations: some(inOrder), Work: some(work),
		},
		"csc":   {Bytes: add(mul(pointerBytes, n+1), mul(entry, s.NNZ))},
		"coo":   {Bytes: mul(entry+indexBytes, s.NNZ)},
		"ell":   {Bytes: ell, Padding: padding, WarpIterations: some(padded), Work: some(ellWork)},
		"ellr":  {Bytes: add(ell, mul(indexBytes, m)), Padding: padding, WarpIterations: some(inOrder), Work: some(work)},
		"pellr": {Bytes: add(ell, mul(2*indexBytes, m)), Padding: padding, WarpIterations: some(sorted), Work: some(work)},
	}
}
