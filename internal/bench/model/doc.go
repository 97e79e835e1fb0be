// Package model computes the time of a product on a multi-GPU node that is not available: a DGX-1 with 8 V100, or a
// node of Summit with 6; also one with 8 H100. Its results are modelled, never measured, and every report says so.
//
// A Platform is a JSON file (platforms/*.json) of links, memories and latencies, each with its unit and source. A Job
// is a matrix that was split for real: the contents of each part follow from its pointers. The phases follow from the
// sizes of the parts:
//
//	h2d      the largest sum of bytes over a link to the host; the GPUs of one
//	         PCIe switch share its link
//	compute  per GPU, bytes/hbm * slowdown + fixed; the slowest GPU counts
//	merge    results back over the same links, and a latency for each GPU; the
//	         GPUs are served one after the other
//
// slowdown and fixed belong to a matrix and a format. They cover effects beyond the sizes: repeated reads of x from
// memory, and the part of a kernel that more GPUs do not shorten. For the matrices of the MSREP paper, Calibrate fits
// them to the authors' times. For other matrices, Gather counts the traffic of x with a model of the cache.
//
// A Node (nodes/*.json) has the links between the GPUs of a machine, and the times of copies, waits and calls. Node.Apply
// computes the time of a product of vectors that stay on the GPUs from a Structure: which elements of x each part needs
// of each other, counted from a pattern, and what its product reads. Transfers share the links; see simulate.
//
// Half of the authors' times calibrate the model, the other half checks it: see CheckHeld.
package model
