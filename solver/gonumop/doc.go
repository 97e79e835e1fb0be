// Package gonumop connects msrep to gonum.
//
// Operator makes a plan, or any msrep.Operator, usable as the matrix of gonum.org/v1/exp/linsolve. The
// methods of linsolve (CG, BiCG, BiCGStab and GMRES) then multiply on the devices of the plan, without a copy
// of the vectors. ParallelBLAS makes gonum's own operations on vectors use all CPUs, where gonum lets them be
// replaced.
//
// An Operator is a mat.Matrix as well, but no function of mat multiplies by it on devices: mat reads single elements
// through At, a product for each row. VecOf makes an msrep.Vector in host memory usable as a vector of gonum, without
// a copy. Vectors of gonum whose increment is 1 are multiplied in place; others are copied.
//
// Matrix makes a CSR matrix usable as a mat.Matrix, for printing, tests and conversion. Do not compute with it:
// a mat.Matrix can only return single elements through At, and gonum reads all m*n of them. VecDense.MulVec of
// a Matrix takes at least as long as with a dense matrix.
//
// As in gonum itself, a nil matrix or vector of gonum, or one of the wrong size, panics, and so does a Matrix
// with a nil A.
package gonumop
