// Package npz reads and writes the .npz files of SciPy's sparse matrices: zip archives of
// NumPy arrays, as written by scipy.sparse.save_npz and read by load_npz.
//
// A matrix is a group of arrays:
//
//	csr  indptr[m+1], indices[nnz], data[nnz], shape[2]
//	csc  indptr[n+1], indices[nnz], data[nnz], shape[2]
//	coo  row[nnz], col[nnz] or coords[2][nnz], data[nnz], shape[2]
//	bsr  indptr[m/r+1], indices[nb], data[nb][r][c], shape[2]
//	dia  offsets[nd], data[nd][w], shape[2]: data[d][j] is in column j, row j - offsets[d]
//
// The array format names the format.
//
// Arrays COO and GCXS of the package sparse (PyData) can be read too: GCXS is csr or, if
// compressed_axes is 1, csc. A matrix whose fill_value is not 0 is refused.
//
// # Groups
//
// Files of graph benchmarks hold several matrices, each with a prefix: adj_data,
// adj_indices, adj_indptr, adj_shape, attr_data and so on. The name of the group is the
// prefix without its last character, an underscore or a dot. These groups have no array
// named format: they are csr if there is an array indptr, coo if there is an array row.
// Groups lists them; Read takes the name. A file with one group needs no name.
//
// # Values
//
// Values may be float32, float64, any integer, or bool, in either byte order. The field
// is Real, Integer, or Pattern for bool with all values true (Integer otherwise). All
// become float64; integers beyond 2^53 are rounded to nearest. Entries with the same
// position are added, without the wrap-around of small integer types; for bool the sum
// stays 1, as in SciPy. Complex, half and extended precision are refused.
//
// # Safety
//
// Arrays of Python objects are refused: pickled objects are never read. The sizes of all
// arrays are checked against each other and the archive before their content is read.
// Memory grows with the content that is found, because an archive may declare or compress
// any size.
package npz
