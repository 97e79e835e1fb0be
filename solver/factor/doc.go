// Package factor computes complete and incomplete factors of sparse matrices: for solving a system in one step, and as
// preconditioners of the methods of package solver.
//
//	NewCholesky           L L' of a symmetric positive definite matrix
//	NewLU                 L U of any square matrix that is not singular
//	NewIC0, NewILU0       incomplete factors with the pattern of the matrix
//	NewILUT               incomplete factors without small entries
//	NewBlocks             any of these for the blocks on the diagonal
//	NewTriangles          applies incomplete factors on the devices of a msrep.System
//
// Complete factors solve a system to the accuracy that its condition allows. They need memory and time that grow faster
// than the matrix: MaxBytes bounds the memory.
//
// All have Size and Apply, and so are a solver.Preconditioner. The same matrix gives the same factors and solutions, bit
// by bit, on any number of goroutines.
package factor
