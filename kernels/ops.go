package kernels

import (
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Compressed is a part of a compressed matrix in the memory of one device: rows
// are majors in CSR, columns in CSC.
//
// Part counts majors from the first that it covers. Its entries are counted as
// Ptr counts them: from 0 when Ptr holds local pointers, from the start of the
// whole matrix when Ptr is a window of the global ones. Entry k is Idx[k-StartIdx]
// and Val[k-StartIdx]; what a first or last major has outside [StartIdx, EndIdx]
// belongs to other parts.
type Compressed[V sparse.Value] struct {
	Part partition.Part
	Ptr  Array[int64] // Part.Majors()+1
	Idx  Array[int32] // Part.NNZ(): minors
	Val  Array[V]     // Part.NNZ()
	// Longest is the entries of the longest major, 0 where nobody counted: devices may multiply
	// parts with a long one in another way.
	Longest int64
}

// MajorProduct multiplies a part by x, one result per major:
//
//	y[r] = alpha * sum over the entries k of major r of val[k]*x[idx[k]] + beta*y[r]
//
// for the owned majors, and Carry[0] = alpha * sum for a first major that an
// earlier part owns. beta = 0 does not read y. X has one element per minor, Y one
// per owned major. Carry is used when Part.StartFlag is set.
type MajorProduct[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y, Carry Array[V]
}

// MinorProduct multiplies the transposed part by x, one product per entry:
//
//	y = beta*y, then y[idx[k]] += alpha*val[k]*x[r] for every entry k of each major r
//
// beta = 0 does not read y. X has one element per covered major, Y one per minor.
type MinorProduct[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        Array[V]
}

// Coordinate is a part of a sorted COO matrix in the memory of one device: Major
// is the index that rises. Part counts entries from its own first one; majors
// and minors are counted from the start of the whole matrix.
type Coordinate[V sparse.Value] struct {
	Part  partition.Part
	Major Array[int32] // Part.NNZ()
	Minor Array[int32] // Part.NNZ()
	Val   Array[V]     // Part.NNZ()
}

// MajorProductCOO is Gather for a coordinate part: X has one element per minor, Y one
// per owned major.
type MajorProductCOO[V sparse.Value] struct {
	A           Coordinate[V]
	Alpha, Beta V
	X, Y, Carry Array[V]
}

// MinorProductCOO is Scatter for a coordinate part: X has one element per major of the
// matrix, Y one per minor.
type MinorProductCOO[V sparse.Value] struct {
	A           Coordinate[V]
	Alpha, Beta V
	X, Y        Array[V]
}

// Name names the operation.
func (*MajorProduct[V]) Name() string { return "major-product" }

// Name names the operation.
func (*MinorProduct[V]) Name() string { return "minor-product" }

// Name names the operation.
func (*MajorProductCOO[V]) Name() string { return "major-product-coo" }

// Name names the operation.
func (*MinorProductCOO[V]) Name() string { return "minor-product-coo" }
