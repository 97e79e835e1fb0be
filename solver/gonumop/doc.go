// Package gonumop lets gonum use the matrices of msrep, and the other way round.
//
// Operator is a plan, or any msrep.Operator, as gonum.org/v1/exp/linsolve wants its
// matrix: its methods CG, BiCG, BiCGStab and GMRES then multiply on the devices of
// the plan, without a copy of the vectors. ParallelBLAS lets what they do with vectors
// themselves have all CPUs, as far as it can be replaced.
//
// Matrix is a CSR matrix as a mat.Matrix, for printing, for tests and for conversion.
// Do not compute with it: mat.Matrix knows elements only, one At at a time, and what
// gonum does with it reads all m*n of them. VecDense.MulVec of a Matrix takes as long
// as with a dense matrix, and longer.
//
// As in gonum itself, a matrix or a vector of gonum's that is nil, or of the wrong size,
// makes what it is given to panic, and so does Matrix where A is nil.
package gonumop
