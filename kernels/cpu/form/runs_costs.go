package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// runCosts is what a group of runs takes, in units of a bit less than a tenth of a
// nanosecond on Zen 4: for itself and each of its rows, for each piece and each row of it,
// and for each piece with masks.
type runCosts struct{ group, row, piece, pieceRow, masked int }

func runCostsOf(l simd.Level) runCosts {
	if l == simd.AVX2 {
		return runCosts{group: 10, row: 3, piece: 5, pieceRow: 5, masked: 22}
	}
	return runCosts{group: 10, row: 3, piece: 5, pieceRow: 7, masked: 32}
}

// same is the cost of a group of rows with the same columns.
func (c runCosts) same(rows, pieces int) int {
	return c.group + rows*c.row + pieces*(c.piece+rows*c.pieceRow)
}

// apart is the cost of a group of rows with columns of their own.
func (c runCosts) apart(pieces int) int {
	return c.group + simd.RunMasked*c.row + pieces*c.masked
}

// mostMasked is how many pieces a group with masks may have at most, and one more, where
// the rows cost so much otherwise.
func (c runCosts) mostMasked(cost int) int {
	return min((cost-c.apart(0))/c.masked, simd.RunPieces+1)
}
