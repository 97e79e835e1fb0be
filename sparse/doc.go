// Package sparse defines the matrix types of the project and their conversions.
//
// There are three formats, each generic over the type of the values (float64 or float32):
//
//	CSR  rowPtr[m+1], colIdx[nnz], val[nnz]   rows compressed
//	CSC  colPtr[n+1], rowIdx[nnz], val[nnz]   columns compressed: the CSR of the transposed matrix
//	COO  rowIdx[nnz], colIdx[nnz], val[nnz]   one triple per entry
//
// Pointers are 64 bits wide, so nnz may exceed 2^31. Indices are 32 bits wide: with 64 bits a product of float64 values
// would read 16 bytes per entry instead of 12. Therefore no matrix may have more than MaxDim rows or columns
// (docs/decisions/0002-index-width.md).
//
// NewCSR, NewCSC and NewCOO validate arrays and use them without a copy. FromTriples
// assembles a matrix from triples, such as those of a finite element method. Every stored
// entry counts as an entry, even if its value is zero.
//
// Matrices belong to the caller. No function of this package or its subpackages changes
// or keeps a matrix unless its comment says so. Several goroutines may call all functions
// at once.
//
// The subpackages read and write files (matio any format by file name; mtx, hb, npz,
// snap, edges, msr and bincsr one format each), generate matrices (gen),
// and order them for a factorisation (order).
package sparse
