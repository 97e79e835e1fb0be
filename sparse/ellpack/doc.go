// Package ellpack keeps rows of a sparse matrix in the formats of the ELLPACK
// family, as the PELLR paper compares them (Wang and Gu, PELLR: A Permutated
// ELLPACK-R Format for SpMV on GPUs, 2020), and counts what each costs before it is
// built.
//
// In all of them a warp of Height rows (32 threads of a GPU, the lanes of a vector
// register on a CPU) walks through its rows side by side, one entry of each a step:
//
//	ell       every row padded to the longest one
//	ellr      the same with the length of each row, where it stops
//	pellr     rows sorted by falling length, so that the rows of a warp stop together
//	biell     the rows of each warp sorted and cut in halves again and again: a row
//	          of a shorter group is shared by more threads
//	jad       all rows sorted, step by step without padding
//	bijad     all rows sorted, then as biell
//	hyb       the first entries of each row as ell, the rest as coordinates
//	hyb-mean  the same with another rule for how many
//	sell      rows sorted within windows, each warp padded to its own longest row
//	          (SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput. 36(5), 2014)
//
// A place without an entry has column -1: it takes no part in any sum, so that an
// infinity or NaN in x stays where it belongs. Steps (Equation (1) of the paper)
// and operations (Equation (2)) are counted for the rows of a warp side by side.
//
// Formats are built from rows in CSR, in parallel, once the memory they need is
// known and was asked for. The kernels that multiply by them are in kernels/cuda
// and kernels/cpu/form.
package ellpack
