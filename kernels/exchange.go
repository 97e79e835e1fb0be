package kernels

import "github.com/msrep-go/msrep/sparse"

// The following operations read memory of other devices. The device that executes one must read every such device
// (ReadsPeer); an array of another device is otherwise an ErrArgument. The stream must wait for an event that follows the
// writes of that memory, and the owner must wait for an event that follows the operation before it writes there again or frees it.

// Pull copies elements of several devices to one: for each source s and each k below its number of elements
//
//	Y[s.First+k] = s.X[s.Idx[k]]   where s has indices
//	Y[s.First+k] = s.X[k]          otherwise
//
// Blocks of a device take the sources in turn, in their order, so that all are read at the same time. Where several
// devices pull, each lists its sources from another one on: then no two read one source first. Sources write different
// elements of Y; elements of Y that no source writes are not changed. A source may lie on the device itself, outside the
// elements of Y that are written.
type Pull[V sparse.Value] struct {
	Sources []PullSource[V]
	Y       Array[V] // on the executing device
}

// PullSource is what Pull takes from one array. Indices are not checked.
type PullSource[V sparse.Value] struct {
	X     Array[V]     // on any device that the executing device reads
	Idx   Array[int32] // indices into X, on the executing device; empty for the first N elements of X
	First int64        // index in Y of the first element
	N     int64        // number of elements; with indices it may be 0, which means Idx.Len
}

// PullCarries computes Y[Row[k]] += Carry[k][0] for all k, with the bits of AddCarries after copies of the carries. Row must
// be sorted in ascending order; rows may repeat.
type PullCarries[V sparse.Value] struct {
	Row   Array[int32] // len(Carry), on the executing device
	Carry []Array[V]   // one element each, on any device that the executing device reads
	Y     Array[V]     // on the executing device
}

// Name returns the name of the operation.
func (*Pull[V]) Name() string { return "pull" }

// Name returns the name of the operation.
func (*PullCarries[V]) Name() string { return "pull-carries" }
