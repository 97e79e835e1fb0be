// Package cluster multiplies a matrix that is spread over several processes, its
// ranks, by vectors that are spread in the same way:
//
//	y = alpha*op(A)*x + beta*y      op(A) = A or its transpose
//
// Ranks are joined by a Comm. Local makes them goroutines of one process, for tests;
// package cluster/mpi, with the build tag mpi, the processes of an MPI run. The package
// itself knows no MPI.
//
// # Three levels
//
// The nonzeros are shared out three times by the rules of package partition: over the
// ranks, over the NUMA nodes of a rank, over the devices of a node. Ranks get whole
// rows (partition.RuleWhole): a row with more than nnz/ranks entries makes its rank
// the largest one. A rank's rows are the job of a msrep.Plan, which does the other two
// levels.
//
// # Vectors
//
// Rank r has the elements [RowCut[r], RowCut[r+1]) of vectors with as many elements as
// A has rows, and [ColCut[r], ColCut[r+1]) of those with as many as it has columns.
// For a square matrix both are the same, so that y can be the next x. Methods take and
// give these pieces only.
//
// # A product
//
// The columns of a rank's rows are local, where it has that element of x, or remote.
// It keeps them as two matrices. A plan finds out once which elements of x every rank
// needs of every other, its halo, and sets up messages for just these. A product sends
// them, multiplies the local matrix meanwhile, then adds the product of the remote one.
// With the transpose the messages go the other way: the remote matrix comes first, what
// it adds to elements of other ranks is sent to them while the local one multiplies.
//
// All ranks call the same methods in the same order with the same options and scalars.
//
// A deterministic plan (msrep.PlanOptions.Deterministic) gives the bits of one process:
// it keeps one matrix, whose rows are summed in the order in which they are stored, and
// waits for the halo before it begins; for the transpose it keeps the transposed matrix.
//
// # Devices with memory of their own
//
// Pieces of vectors may stay there: Plan.Apply multiplies them, and solvers use it. Ranks
// on one host share its GPUs. Messages leave from the first device of a rank and arrive
// there: its own memory where the Comm takes that (DeviceComm), else pinned host memory.
//
// # Failures
//
// Nil arguments and closed plans are errors, as in package msrep. They are errors of one
// rank alone, for which the others may wait, but those of NewPlan are known to all.
//
// Agree makes an error of one rank known to all. Watch ends the process when another one
// is gone.
package cluster
