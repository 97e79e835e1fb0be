// Package model computes how long a product would take on a multi-GPU node that is
// not at hand: a DGX-1 with 8 V100 or a node of Summit with 6. Its results are
// modelled, never measured, and every report says so.
//
// A Platform is a readable file (platforms/*.json) of links, memories and
// latencies, each with its unit and source. A Load is a matrix that was split for
// real: what each part holds follows from its pointers. The phases follow from the
// sizes of the parts:
//
//	h2d      the largest sum of bytes over a link to the host; the GPUs of one
//	         PCIe switch share its link
//	compute  per GPU, bytes/hbm * slowdown + fixed; the slowest GPU counts
//	merge    results back over the same links, and a latency for each GPU, which
//	         are served one after the other
//
// slowdown and fixed belong to a matrix and a format. They say what sizes alone do
// not: how much of x comes from memory again and again, and the part of a kernel
// that does not get shorter with more GPUs. For the matrices of the MSREP paper
// Calibrate finds them from the authors' times; for others, Gather counts the
// traffic of x with a model of the cache.
//
// Half of the authors' times calibrate, the other half checks: see CheckHeld.
package model
