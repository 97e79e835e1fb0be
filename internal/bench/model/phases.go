package model

import (
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/sparse"
)

const giga = 1e9

// Times are the modelled seconds of the phases of one product.
type Times struct {
	Partition, H2D, Compute, Merge float64
}

// Total returns the sum of the phases.
func (t Times) Total() float64 { return t.Partition + t.H2D + t.Compute + t.Merge }

// Authors models the program of the paper's authors. version is one of paper.Versions. Only p-opt places its parts on
// the sockets of their GPUs; the other versions keep all parts on the first socket. Like the paper, it leaves out the
// copy for the placement.
func (p *Platform) Authors(j Job, version string) Times {
	t := Times{Partition: p.authorsSplit(j, version), H2D: p.authorsCopy(j), Merge: p.authorsMerge(j)}
	if version != "p-opt" {
		t.H2D = max(t.H2D, p.overCross(j, j.authorsInBytes, p.CrossCopy))
	}
	for i := range j.Parts {
		t.Compute = max(t.Compute, p.authorsKernel(j, i))
	}
	pass := 8 * float64(j.Rows) / (p.PlainCopy.Value * giga) // one pass of the host over a vector
	switch {
	case version == "p-opt" || version == paper.Unplaced:
	case j.Format == sparse.FormatCSC:
		t.Merge += float64(len(j.Parts)) * pass
	case version == "p":
		t.Merge += pass
	}
	return t
}

// authorsCopy returns the time of the copies to the GPUs. In CSR and CSC on more than two GPUs, the copies of the GPUs of
// one link begin apart, and the time of each is counted from its own beginning.
func (p *Platform) authorsCopy(j Job) float64 {
	t := p.perLink(j, j.authorsInBytes) / (p.HostLink.Value * giga)
	if j.Format == sparse.FormatCOO || len(j.Parts) <= 2 || p.GPUsPerLink == 1 {
		return t
	}
	alone := 0.0
	for i := range j.Parts {
		alone = max(alone, j.authorsInBytes(i)/(p.HostLink.Value*giga))
	}
	return max(t-p.Apart.Value, alone)
}

// authorsSplit returns the time of making local pointers, or for COO local row indices. Depending on version, one
// host thread makes all of them, each host thread makes its own, or the GPUs do.
func (p *Platform) authorsSplit(j Job, version string) float64 {
	of, each := func(part Part) float64 { return float64(part.Majors) }, p.Pointer.Value
	if j.Format == sparse.FormatCOO {
		of, each = func(part Part) float64 { return float64(part.NNZ) }, p.Index.Value
	}
	all, most := 0.0, 0.0
	for _, part := range j.Parts {
		all, most = all+of(part), max(most, of(part))
	}
	switch version {
	case "baseline":
		return all * each
	case "p":
		return most * each
	}
	t := p.Split.Value + most*p.DeviceIndex.Value
	if j.Format != sparse.FormatCOO && len(j.Parts) > 1 {
		t += p.SplitWait.Value
	}
	return t
}

// authorsKernel returns the kernel time of GPU i.
func (p *Platform) authorsKernel(j Job, i int) float64 {
	k, ok := p.Kernels[string(j.Format)][j.Matrix]
	if !ok {
		k = Kernel{Slowdown: 1 + float64(j.Parts[i].Gather)/max(j.streamed(i), 1), Fixed: p.Launch.Value}
	}
	return k.Slowdown*j.streamed(i)/(p.HBM.Value*giga) + k.Fixed
}

// authorsMerge returns the time to copy the results to the memory of the first socket. The whole vectors of CSC use
// only the link of one GPU.
func (p *Platform) authorsMerge(j Job) float64 {
	t := p.perLink(j, j.outBytes) / (p.HostBack.Value * giga)
	if j.Format != sparse.FormatCSC {
		t = max(t, p.overCross(j, j.outBytes, p.CrossMerge))
	}
	return t + p.PerGPU.Value*float64(len(j.Parts))
}

// Library models this library: kernels without a fixed part, carries if the split has any, and partial vectors that
// the GPUs add. With resident, the matrix and the vectors stay on the GPUs and no elements are exchanged; otherwise each
// product copies them from the host. Node.Apply models products with exchange.
func (p *Platform) Library(j Job, resident bool) Times {
	var t Times
	gpus := float64(len(j.Parts))
	if !resident {
		t.H2D = p.perLink(j, j.inBytes) / (p.HostLink.Value * giga)
	}
	for i, part := range j.Parts {
		s := (j.streamed(i) + float64(part.Gather)) / (p.HBM.Value * giga)
		t.Compute = max(t.Compute, s+p.Launch.Value)
	}
	if gpus > 1 {
		if j.carries() {
			t.Merge = p.Launch.Value // one small kernel adds the carries
		}
		if j.Format == sparse.FormatCSC { // each GPU gets its rows of the others' vectors, and adds all of them
			rows := 8 * float64(j.Rows) / gpus
			t.Merge = (gpus-1)*rows/(p.PeerIn.Value*giga) + (gpus+1)*rows/(p.HBM.Value*giga) + p.Launch.Value
		}
	}
	if !resident {
		t.Merge += p.perLink(j, func(i int) float64 {
			if j.Format == sparse.FormatCSC { // each GPU has its rows of the sum
				return 8 * float64(j.Rows) / gpus
			}
			return j.outBytes(i)
		}) / (p.HostBack.Value * giga)
	}
	return t
}

// perLink returns the largest sum of bytes over the GPUs of one host link.
func (p *Platform) perLink(j Job, bytes func(i int) float64) (most float64) {
	sum := make([]float64, (len(j.Parts)-1)/p.GPUsPerLink+1)
	for i := range j.Parts {
		sum[i/p.GPUsPerLink] += bytes(i)
		most = max(most, sum[i/p.GPUsPerLink])
	}
	return most
}

// overCross returns the time of the bytes that pass between the sockets; 0 if speed is 0, which means no limit.
func (p *Platform) overCross(j Job, bytes func(i int) float64, speed Param) float64 {
	if speed.Value == 0 {
		return 0
	}
	sum := 0.0
	for i := min(p.GPUsPerSocket, len(j.Parts)); i < len(j.Parts); i++ {
		sum += bytes(i)
	}
	return sum / (speed.Value * giga)
}
