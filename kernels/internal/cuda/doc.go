// Package cuda holds the kernels for NVIDIA GPUs: the CUDA C++ sources, the PTX that
// they compile to, and a table of the parameters of each kernel. It needs no GPU and no
// driver: kernels/internal/ptx runs the same PTX in Go.
//
// The PTX is version 6.3 for sm_70 (Volta) and later. Drivers of CUDA 10 and later
// compile it when they load it. .ci/ptx.sh compiles it; CI compares the committed PTX
// with the sources byte for byte.
//
// The products and solves of package kernels use these kernels:
//
//	MajorProduct     msrep_major_vectorL, where L is the result of Lanes, or
//	                 msrep_merge_path once, then msrep_major_merge, msrep_add_carries, or
//	                 msrep_major_slices, or the kernel of a format of sparse/ellpack
//	MinorProduct     msrep_scale, msrep_minor
//	MajorProductCOO  msrep_scale, msrep_major_coo, msrep_add_carries
//	MinorProductCOO  msrep_scale, msrep_minor_coo
//	TriangularSolve  msrep_triangular_start, msrep_triangular or msrep_triangular_many
//
// README.md in this folder has the formula and the parameters of each kernel.
//
// # Determinism
//
// All kernels except msrep_minor and msrep_minor_coo return the same bits every time for
// the same arguments and grid. Those two add with atomics. The deterministic alternative to
// msrep_minor is a major product with the transposed matrix, which is built once per
// matrix; msrep_permute copies new values to it.
package cuda
