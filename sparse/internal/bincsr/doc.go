// Package bincsr reads and writes binary CSR, the simplest file to exchange with programs
// in other languages: the benchmarks of other libraries read it. All numbers are
// little-endian, with nothing between the arrays:
//
//	int64    rows, columns, nonzeros
//	int64    rowPtr[rows+1]
//	int32    colIdx[nonzeros]
//	float64  val[nonzeros]
//
// Such a file has no magic number and no checksum. Only its length, which follows from the
// first three numbers, and its indices are checked. For files that only this project reads,
// use package msr: its files have a magic number and checksums, and are mapped into memory.
package bincsr
