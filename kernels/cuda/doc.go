// Package cuda holds the kernels for NVIDIA GPUs: their sources in CUDA C++, the
// PTX that they compile to, and a table of what each kernel is called with. It
// needs no GPU and no driver: kernels/ptx runs the same PTX in plain Go.
//
// The PTX is for sm_70 (Volta) and up, PTX 6.3, which drivers from CUDA 10 on
// compile when they load it. It is made by .ci/ptx.sh, committed, and compared
// with its sources byte for byte by the checks.
//
// The products of package kernels are made of these:
//
//	Gather      msrep_major_vectorL, with L of Lanes, or
//	            msrep_merge_path once, then msrep_major_merge, msrep_add_carries, or
//	            msrep_major_slices, or the kernel of a format of sparse/ellpack
//	Scatter     msrep_scale, msrep_minor
//	GatherCOO   msrep_scale, msrep_major_coo, msrep_add_carries
//	ScatterCOO  msrep_scale, msrep_minor_coo
//
// README.md in this folder has the formula and the parameters of each kernel.
//
// # Deterministic or not
//
// All kernels but msrep_minor and msrep_minor_coo give the same bits every
// time they are run with the same arguments and grid. Those two add with atomics.
// The deterministic scatter is a gather on the transposed structure, made once
// per matrix; msrep_permute brings new values over.
package cuda
