package kernels

// SegmentVector is a vector of float64 values in the memory of one device, plain or cut into segments. In
// segments (the CPMS paper; package sparse/cpms) each value has Of segments of equal size. The first
// segments of all values come first, then the second segments of all values, and so on. Val has one element
// for each value in both cases.
type SegmentVector struct {
	Val  Array[float64]
	Of   int // segments of a value: 2 or 4
	Read int // leading segments that are read or written; 0 for plain values
}

// MajorProductSegments is MajorProductPacked for a part that was packed with Segments. The values of A, X
// and Y may each be read or written with another number of segments. Sums are in float64:
//
//	y[r] = alpha * sum over the entries k of major r of val[k]*x[idx[k]] + beta*y[r]
//
// X and Y are cut into as many segments as the values of A. Written values are truncated towards zero.
type MajorProductSegments struct {
	A           Packed
	Read        int // segments of each value of A to read; 0 means the number in its Packing
	Alpha, Beta float64
	X, Y        SegmentVector
	Carry       Array[float64]
}

// JoinSegments turns the values of a part back from segments to plain float64, in place. After it,
// MajorProductSegments reads whole values.
type JoinSegments struct{ A Packed }

// RankSegments ends an iteration of PageRank for a range of nodes. Sums holds the sums over their incoming
// links:
//
//	next[First+i] = (sums[i] + add) / degree[i]
//	diff = sum over i of |next[First+i] - cur[First+i]| * degree[i]
//
// where next is the written value, truncated towards zero. Degree has one element for each element of Sums;
// an empty Degree means ones.
type RankSegments struct {
	Sums      Array[float64]
	Cur, Next SegmentVector
	First     int64
	Degree    Array[int32]
	Add       float64
	Diff      Array[float64] // one element
}

// SumSegments computes a sum over elements of a vector:
//
//	sum over j of p[node[j]]                              if Node is not empty
//	sum over i < Count of |p[First+i]| * degree[i]        otherwise
//
// An empty Degree means ones.
type SumSegments struct {
	P            SegmentVector
	Node         Array[int32]
	First, Count int64
	Degree       Array[int32]
	Sum          Array[float64] // one element
}

// DivideSegments computes p[i] = p[i]/by for all elements. Results are truncated towards zero.
type DivideSegments struct {
	P  SegmentVector
	By float64
}

// Name returns the name of the operation.
func (*MajorProductSegments) Name() string { return "major-product-segments" }

// Name returns the name of the operation.
func (*JoinSegments) Name() string { return "join-segments" }

// Name returns the name of the operation.
func (*RankSegments) Name() string { return "rank-segments" }

// Name returns the name of the operation.
func (*SumSegments) Name() string { return "sum-segments" }

// Name returns the name of the operation.
func (*DivideSegments) Name() string { return "divide-segments" }
