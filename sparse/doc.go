// Package sparse holds the matrix types of the project and their conversions.
//
// Three formats, each generic over the value type (float64 or float32):
//
//	CSR  rowPtr[m+1], colIdx[nnz], val[nnz]   rows compressed
//	CSC  colPtr[n+1], rowIdx[nnz], val[nnz]   columns compressed: the CSR of the transposed matrix
//	COO  rowIdx[nnz], colIdx[nnz], val[nnz]   one triple per entry
//
// Pointers are 64 bits wide, so that nnz may pass 2^31; indices are 32 bits
// wide, because they are two fifths of the bytes that a product must move. A
// dimension that an index addresses may therefore be at most MaxDim; larger
// ones are refused with an error (docs/decisions/0002-index-width.md).
//
// NewCSR, NewCSC and NewCOO check arrays and use them as they are; FromTriples
// assembles a matrix of triples, as finite elements give them. Entries that are
// stored count as entries, also when their value is zero.
//
// Matrices belong to the caller. Nothing here or in the subpackages changes one, or
// keeps it, unless it says so, and all functions may be called from several goroutines
// at once.
//
// The subpackages read and write files (matio by file name; mtx, hb, npz, snap,
// msr and bincsr one format each) and make matrices (gen).
package sparse
