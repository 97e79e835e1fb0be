/* cuda.h for gorgonia.org/cu v0.9.6, which was written for CUDA 11 and 12. The compiler
 * finds it before NVIDIA's header, which it includes. CUDA 13 added parameters to five
 * functions; this header restores the old signatures. */
#ifndef MSREP_CUDA_COMPAT_H
#define MSREP_CUDA_COMPAT_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000

static inline CUresult msrep_cuCtxCreate(CUcontext *ctx, unsigned int flags, CUdevice dev) {
	return cuCtxCreate(ctx, 0, flags, dev);
}
static inline CUmemLocation msrep_location(CUdevice dev) {
	CUmemLocation at;
	at.type = dev == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
	at.id = dev == CU_DEVICE_CPU ? 0 : dev;
	return at;
}
static inline CUresult msrep_cuMemAdvise(CUdeviceptr p, size_t n, CUmem_advise advice, CUdevice dev) {
	return cuMemAdvise(p, n, advice, msrep_location(dev));
}
static inline CUresult msrep_cuMemPrefetchAsync(CUdeviceptr p, size_t n, CUdevice dev, CUstream s) {
	return cuMemPrefetchAsync(p, n, msrep_location(dev), 0, s);
}
static inline CUresult msrep_cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n) {
	return cuGraphAddDependencies(g, from, to, 0, n);
}
static inline CUresult msrep_cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n) {
	return cuGraphGetEdges(g, from, to, 0, n);
}

#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuCtxCreate msrep_cuCtxCreate
#define cuMemAdvise msrep_cuMemAdvise
#define cuMemPrefetchAsync msrep_cuMemPrefetchAsync
#define cuGraphAddDependencies msrep_cuGraphAddDependencies
#define cuGraphGetEdges msrep_cuGraphGetEdges

#endif
#endif
