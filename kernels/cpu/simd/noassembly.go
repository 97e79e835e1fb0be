//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// There is no assembly: Best is Generic, and none of these is used.

const hasAssembly = false

var (
	blockTables, blockTransposedTables, diagonalTables, diagonalTransposedTables          kernels
	sliceTables, sliceTransposedTables, runTables, runTransposedTables, tileTables        kernels
	multiplyBinTables, multiplyBinOfTwoTables, spreadBinTables                            kernels
	copyBinKernels, copyBinOfTwoKernels, addBinRunKernels                                 kernels
	symmetricTables, symmetricBlockTables, finishTables, finishFromTables, permuteTables  kernels
	manyTables, manyBlockTables, fewTables, manySymmetricTables, manySymmetricBlockTables kernels
	manyTileTables, manyBinTables, expandTables, addLinesKernels                          kernels
	lostTables                                                                            kernels

	joinKernels                          joinTable
	headRowsKernels                      headRowsTable
	headSlicesKernels, nearSlicesKernels headSlicesTable
	rankKernels                          rankTable
)

func fence() {}

func loadAhead(p *byte, lines int) {}

func copyLinesAVX2(x, others *byte, lines *int32, n int) {}

func pack57(n int, val *float64, low uint64, out *byte) (done int) { return 0 }

func rowSumsAVX2[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool { return false }
