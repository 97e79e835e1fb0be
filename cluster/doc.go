// Package cluster multiplies a matrix that is distributed over several processes, its ranks, by vectors that are
// distributed in the same way:
//
//	y = alpha*op(A)*x + beta*y      op(A) = A or its transpose
//
// A Comm connects the ranks. Local makes ranks that are goroutines of one process, for tests. Package cluster/mpi,
// with the build tag mpi, connects the processes of an MPI run. Package cluster itself does not use MPI.
//
// # Three levels
//
// The rules of package partition split the nonzeros three times: among the ranks, among the NUMA nodes of a rank, and
// among the devices of a node. Ranks get whole rows (partition.RuleWhole), so a row with more than nnz/ranks entries
// makes its rank the largest. A msrep.Plan does the other two splits for the rows of a rank.
//
// # Vectors
//
// Rank r has the elements [RowCut[r], RowCut[r+1]) of vectors with one element for each row of A, and the elements
// [ColCut[r], ColCut[r+1]) of vectors with one element for each column. For a square matrix both are the same, so y
// can be the next x. Methods accept and return only these pieces.
//
// # A product
//
// A rank stores its rows as two matrices: one holds the local columns, for which the rank has the element of x, the
// other the remote columns. A plan determines once which elements of x each rank needs from the others (its halo), and
// sets up messages for these elements. A product sends the messages, multiplies by the local matrix meanwhile, and then
// adds the product of the remote matrix. With the transpose the messages go in the other direction: the remote matrix
// multiplies first, and its results for elements of other ranks are sent while the local matrix multiplies.
//
// All ranks call the same methods in the same order with the same options and scalars.
//
// A deterministic plan (msrep.PlanOptions.Deterministic) gives the same bits as one process. It stores one matrix,
// whose rows are summed in stored order, and waits for the halo before it multiplies. For the transpose it stores the
// transposed matrix.
//
// # Devices with separate memory
//
// Pieces of vectors may stay on the devices: Plan.Apply multiplies them, and solvers use it. Ranks on one host share
// its GPUs. Messages are sent from and received by the first device of a rank: in its own memory if the Comm accepts
// it (DeviceComm), else in pinned host memory.
//
// # Failures
//
// Nil arguments and closed plans are errors, as in package msrep. Only the rank that made the mistake returns such an
// error, and the other ranks may wait for it. Errors of NewPlan are returned on all ranks.
//
// Agree reports an error of one rank on all ranks. Watch ends the process when another process is lost.
package cluster
