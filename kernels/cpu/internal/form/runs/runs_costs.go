package runs

import (
	"github.com/msrep-go/msrep/internal/simd"
)

// runCosts has the costs of a group of runs, in units of a little less than 0.1 ns on Zen 4: per
// group, per row, per piece, per row of a piece, and per piece with masks.
type runCosts struct{ group, row, piece, pieceRow, masked int }

func runCostsOf(l simd.Level) runCosts {
	if l == simd.AVX2 {
		return runCosts{group: 10, row: 3, piece: 5, pieceRow: 5, masked: 22}
	}
	return runCosts{group: 10, row: 3, piece: 5, pieceRow: 7, masked: 32}
}

// same returns the cost of a group of rows with equal columns.
func (c runCosts) same(rows, pieces int) int {
	return c.group + rows*c.row + pieces*(c.piece+rows*c.pieceRow)
}

// withMasks returns the cost of a group with masks.
func (c runCosts) withMasks(pieces int) int {
	return c.group + RunMasked*c.row + pieces*c.masked
}

// mostMasked returns the number of pieces below which a group with masks costs less than cost, at
// most RunPieces+1.
func (c runCosts) mostMasked(cost int) int {
	return min((cost-c.withMasks(0))/c.masked, RunPieces+1)
}
