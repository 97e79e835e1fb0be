package kernels

// SegmentVector is float64 values in the memory of one device, plain or in segments
// (the CPMS paper; package sparse/cpms): each value is cut into Of segments of equal
// size, and all segments of one kind lie together, the first ones first. Val is the
// memory; it has as many elements as the vector.
type SegmentVector struct {
	Val  Array[float64]
	Of   int // segments of a value, 2 or 4
	Read int // segments that are read or written, from the first; 0 where values are plain
}

// MajorProductSegments is MajorProductPacked for a part that was packed with a Precision, with
// values, x and y each in their own precision and sums in float64:
//
//	y[r] = alpha * sum over the entries k of major r of val[k]*x[idx[k]] + beta*y[r]
//
// X and Y are cut into as many segments as the values of A. What is written is cut
// towards zero.
type MajorProductSegments struct {
	A           Packed
	Read        int // segments of each value that are read; 0: those that A was packed for
	Alpha, Beta float64
	X, Y        SegmentVector
	Carry       Array[float64]
}

// JoinSegments gives the values of a part their plain form back, in place. From then
// on MajorProductSegments reads all of them.
type JoinSegments struct{ A Packed }

// RankSegments ends an iteration of PageRank for a run of nodes, of which Sums is what
// came in:
//
//	next[First+i] = (sums[i] + add) / degree[i]
//	diff = sum over i of |next[First+i] - cur[First+i]| * degree[i]
//
// where next is what was written, cut towards zero. Degree has an element for each of
// Sums; empty, it stands for ones.
type RankSegments struct {
	Sums      Array[float64]
	Cur, Next SegmentVector
	First     int64
	Degree    Array[int32]
	Add       float64
	Diff      Array[float64] // one element
}

// SumSegments is a sum over elements of a vector: sum of p[node[j]] where Node is not
// empty, else of |p[First+i]| * degree[i], i < Count; an empty Degree stands for ones.
type SumSegments struct {
	P            SegmentVector
	Node         Array[int32]
	First, Count int64
	Degree       Array[int32]
	Sum          Array[float64] // one element
}

// DivideSegments is p[i] = p[i]/by for all elements, cut towards zero.
type DivideSegments struct {
	P  SegmentVector
	By float64
}

// Name names the operation.
func (*MajorProductSegments) Name() string { return "major-product-segments" }

// Name names the operation.
func (*JoinSegments) Name() string { return "join-segments" }

// Name names the operation.
func (*RankSegments) Name() string { return "rank-segments" }

// Name names the operation.
func (*SumSegments) Name() string { return "sum-segments" }

// Name names the operation.
func (*DivideSegments) Name() string { return "divide-segments" }
