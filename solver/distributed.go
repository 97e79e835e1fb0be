package solver

import (
	"context"

	"github.com/msrep-go/msrep/solver/internal/space"
)

// Distributed is an Operator over several processes. Each process has one piece of every vector, and Dims returns
// the length of its piece as both dimensions. All processes call a method together with the same options; the
// method then calls SpMV, Sum and Max in the same order in all of them. b, x and the vectors of a Preconditioner
// are the pieces of the process.
//
// Sums are over all processes, so all processes take the same decisions, end in the same iteration and return the
// same Result, except for Timing. If one process fails, all return an error; the errors of the others wrap
// ErrOtherProcess. A context that ends in one process ends the solve in all processes after the next sum.
//
// If the operator also has the methods Resident, RowVector and Apply of a msrep.Plan, and Resident returns true, the
// vectors of a solve stay on the devices of each process.
type Distributed interface {
	// SpMV multiplies pieces; see Operator. Its context never ends. It is called even after this process has
	// failed, because the other processes need its part of the product.
	Operator
	// Piece returns the index of this process's first element in the whole vector, and the length of the
	// whole vector.
	Piece() (first, total int)
	// Fixed reports whether sums must have the same bits as in a single process. Each nonempty piece must then
	// begin at a multiple of SumChunk.
	Fixed() bool
	// Sum replaces each element of v by its sum over all processes. All processes get the same bits.
	Sum(ctx context.Context, v []float64) error
	// Max replaces each element of v by its maximum over all processes.
	Max(ctx context.Context, v []float64) error
}

// ErrOtherProcess is the error of a solve that failed in another process.
var ErrOtherProcess = space.ErrOtherProcess

// SumChunk is the number of elements of a chunk. Sums over vectors are computed chunk by chunk, and the sums of the
// chunks are added in order.
const SumChunk = space.SumChunk
