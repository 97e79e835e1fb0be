package kernels

import (
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Compressed is a part of a CSR or CSC matrix in the memory of one device. The majors are the rows in CSR
// and the columns in CSC; the minors are the others.
//
// Part numbers the majors from the first one that it covers. It numbers the entries as Ptr does: from 0 when
// Ptr holds pointers of the part, from the start of the matrix when Ptr is a range of the matrix's pointers.
// Entry k is Idx[k-Part.StartIdx] and Val[k-Part.StartIdx]. Entries of the first and the last major outside
// [Part.StartIdx, Part.EndIdx] belong to other parts.
type Compressed[V sparse.Value] struct {
	Part partition.Part
	Ptr  Array[int64] // Part.Majors()+1
	Idx  Array[int32] // Part.NNZ(): minors
	Val  Array[V]     // Part.NNZ()
	// Longest is the number of entries of the longest major, 0 when unknown. Devices may multiply parts
	// with a long major by another kernel.
	Longest int64
}

// MajorProduct multiplies a part by x and computes one element of y for each major:
//
//	y[r] = alpha * sum over the entries k of major r of val[k]*x[idx[k]] + beta*y[r]
//
// for the majors that the part owns. Where Part.StartFlag is set, an earlier part owns the first major, and
// its sum goes to Carry[0] = alpha * sum. beta = 0 does not read y. X has one element for each minor, Y one
// for each owned major, and Carry one if Part.StartFlag is set.
type MajorProduct[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y, Carry Array[V]
}

// MinorProduct multiplies the transposed part by x and adds one product to y for each entry:
//
//	y = beta*y, then y[idx[k]] += alpha*val[k]*x[r] for every entry k of each major r
//
// beta = 0 does not read y. X has one element for each covered major, Y one for each minor.
type MinorProduct[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        Array[V]
}

// Coordinate is a part of a sorted COO matrix in the memory of one device. The entries are sorted by Major.
// Part numbers the entries from the first of the part; Major and Minor count from the start of the matrix.
type Coordinate[V sparse.Value] struct {
	Part  partition.Part
	Major Array[int32] // Part.NNZ()
	Minor Array[int32] // Part.NNZ()
	Val   Array[V]     // Part.NNZ()
}

// MajorProductCOO is MajorProduct for a part in COO. X has one element for each minor, Y one for each owned
// major.
type MajorProductCOO[V sparse.Value] struct {
	A           Coordinate[V]
	Alpha, Beta V
	X, Y, Carry Array[V]
}

// MinorProductCOO is MinorProduct for a part in COO. X has one element for each major of the whole matrix, Y
// one for each minor.
type MinorProductCOO[V sparse.Value] struct {
	A           Coordinate[V]
	Alpha, Beta V
	X, Y        Array[V]
}

// Name returns the name of the operation.
func (*MajorProduct[V]) Name() string { return "major-product" }

// Name returns the name of the operation.
func (*MinorProduct[V]) Name() string { return "minor-product" }

// Name returns the name of the operation.
func (*MajorProductCOO[V]) Name() string { return "major-product-coo" }

// Name returns the name of the operation.
func (*MinorProductCOO[V]) Name() string { return "minor-product-coo" }
