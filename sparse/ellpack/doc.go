// Package ellpack stores rows of a sparse matrix in the formats of the ELLPACK family
// that the PELLR paper compares (Wang and Gu, PELLR: A Permutated ELLPACK-R Format for
// SpMV on GPUs, 2020). It computes the cost of each format before the format is built.
//
// In all formats a warp of Height rows (32 threads of a GPU, the lanes of a vector
// register on a CPU) processes its rows in parallel, one entry of each row per step:
//
//	ell       every row padded to the longest one
//	ellr      ell with the length of each row, where its thread stops
//	pellr     rows sorted by descending length, so the rows of a warp have similar lengths
//	biell     the rows of each warp sorted and halved repeatedly: more threads share
//	          a row of a smaller group
//	jad       all rows sorted, entries stored step by step without padding
//	bijad     all rows sorted, then as biell
//	hyb       the first entries of each row as ell, the rest as coordinates
//	hyb-mean  hyb with another rule for the number of first entries
//	sell      rows sorted within windows, each warp padded to its own longest row
//	          (SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput. 36(5), 2014)
//
// A slot is a place for one entry: a column index and a value. A slot without an entry has
// column -1 and is not added to any sum, so it does not spread an infinity or NaN of x.
// Steps (Equation (1) of the paper) are counted per warp, operations (Equation (2)) per
// row.
//
// Formats are built from rows in CSR, on several goroutines, after the memory that they
// need was computed and checked. The kernels for these formats are in kernels/internal/cuda and
// kernels/cpu/internal/form/ell.
package ellpack
