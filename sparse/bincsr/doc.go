// Package bincsr reads and writes binary CSR, the plainest file that programs in
// other languages can share with this one: the benchmarks of other libraries read
// it. All numbers are little-endian, with nothing between the arrays:
//
//	int64    rows, columns, nonzeros
//	int64    rowPtr[rows+1]
//	int32    colIdx[nonzeros]
//	float64  val[nonzeros]
//
// There is no mark by which such a file is recognised and no checksum: its length,
// which follows from the first three numbers, and its indices are checked. For files
// of one's own package msr is better: it has both, and maps the file.
package bincsr
