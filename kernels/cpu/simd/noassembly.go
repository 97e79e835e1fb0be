//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// There is no assembly: Best is Generic, and none of these is used.

const hasAssembly = false

var (
	blockTables, blockTransposedTables, diagonalTables, diagonalTransposedTables                   kernels
	sliceTables, sliceTransposedTables, runTables, runTransposedTables, tileTables                 kernels
	multiplyBinTables, multiplyBinOfTwoTables, spreadBinTables                                     kernels
	copyBinKernels, copyBinOfTwoKernels, addBinRunKernels                                          kernels
	symmetricTables, symmetricBlockTables, storeRowsTables, storePermutedRowsTables, permuteTables kernels
	manyTables, manyBlockTables, fewTables, manySymmetricTables, manySymmetricBlockTables          kernels
	manyTileTables, manyBinTables, expandTables, addLinesKernels                                   kernels
	outOfRangeTables, manyRowsTables, permuteRowsTables, transposeTables                           kernels

	joinKernels                          joinTable
	headRowsKernels                      headRowsTable
	headSlicesKernels, nearSlicesKernels headSlicesTable
	rankKernels                          rankTable
	vectorKernels                        [2]vectorTable
)

func fence() {}

func loadAhead(p *byte, lines int) {}

func copyLinesAVX2(x, others *byte, lines *int32, n int) {}

func pack57(n int, val *float64, low uint64, out *byte) (done int) { return 0 }

func minMaxAVX2(idx []int32) (lo, hi int32) { return 0, 0 }

func rowsAVX2[V sparse.Value](alpha, beta V, ptr []int64, idx []int32, val, x, y, work []V, predicted, near bool) int {
	return 0
}

func spreadAVX2[V sparse.Value](alpha V, ptr []int64, x, f []V) int { return 0 }

func rowsTransposedAVX2[V sparse.Value](n int, idx []int32, val, f, y []V, first int, far bool) int {
	return 0
}

func rowsTransposedMany[V sparse.Value](l Level, alpha V, from int, ptr []int64, idx []int32, val, x, y, spill []V, marks []byte, ldx, ldy, lds, rows, first, done, open, vectors, last, prefetchEnd int) int {
	return from
}

func rowSumsAVX2[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool { return false }
