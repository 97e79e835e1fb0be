package model

import (
	"math"
	"math/bits"

	"github.com/msrep-go/msrep/sparse"
)

const giga = 1e9

// Times are the modelled seconds of the phases of one product.
type Times struct {
	Partition, H2D, Compute, Merge, Exchange float64
}

// Total adds the phases up.
func (t Times) Total() float64 { return t.Partition + t.H2D + t.Compute + t.Merge + t.Exchange }

// Authors models the program of the paper's authors. version is baseline, p or
// p-opt; placed says that the parts lie on the sockets of their GPUs, not all on the
// first. The copy that this takes is not in it, as it is not in the paper.
func (p *Platform) Authors(j Job, version string, placed bool) Times {
	var t Times
	serial := 1.0
	if version != "baseline" {
		serial = 1 / float64(len(j.Parts)) // one thread for each GPU
	}
	for _, part := range j.Parts {
		if j.Format == sparse.FormatCOO {
			t.Partition += serial * float64(part.NNZ) * p.Index.Value
		} else {
			t.Partition += serial * float64(part.Majors) * p.Pointer.Value
		}
	}
	t.H2D = p.perLink(j, j.inBytes) / (p.HostLink.Value * giga)
	if !placed {
		t.H2D = max(t.H2D, p.overCross(j, j.inBytes))
	}
	for i := range j.Parts {
		t.Compute = max(t.Compute, p.authorsKernel(j, i))
	}
	switch {
	case version == "p-opt":
		t.Partition = p.Launch.Value * float64(len(j.Parts))
		t.Merge = p.authorsMerge(j)
	case j.Format == sparse.FormatCSC:
		t.Merge = float64(len(j.Parts)) * 8 * float64(j.Rows) / (p.PlainCopy.Value * giga)
	case version == "p":
		t.Merge = 8 * float64(j.Rows) / (p.PlainCopy.Value * giga)
	default:
		t.Merge = p.authorsMerge(j)
	}
	return t
}

// authorsKernel is the time of GPU i.
func (p *Platform) authorsKernel(j Job, i int) float64 {
	k, ok := p.Kernels[string(j.Format)][j.Matrix]
	if !ok {
		k = Kernel{Slowdown: 1 + float64(j.Parts[i].Gather)/max(j.streamed(i), 1), Fixed: p.Launch.Value}
	}
	return k.Slowdown*j.streamed(i)/(p.HBM.Value*giga) + k.Fixed
}

// authorsMerge brings results to the memory of the first socket. Whole vectors, of
// CSC, go over the link of a GPU only.
func (p *Platform) authorsMerge(j Job) float64 {
	t := p.perLink(j, j.outBytes) / (p.HostBack.Value * giga)
	if j.Format != sparse.FormatCSC {
		t = max(t, p.overCross(j, j.outBytes))
	}
	return t + p.PerGPU.Value*float64(len(j.Parts))
}

// Library models this library: kernels without a part that does not shrink, carries, if
// the split has any, and partial vectors joined on the GPUs. resident leaves the
// matrix and the vectors on the GPUs; without it all are copied for the product.
// exchange adds what an iteration needs besides: each GPU gets the elements of the
// new vector that the others made.
func (p *Platform) Library(j Job, resident, exchange bool) Times {
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
			t.Merge = p.Launch.Value // one small kernel adds them
		}
		if j.Format == sparse.FormatCSC {
			rounds := float64(bits.Len(uint(len(j.Parts) - 1)))
			y := 8 * float64(j.Rows)
			t.Merge = rounds * (y/(p.PeerIn.Value*giga) + 3*y/(p.HBM.Value*giga) + p.Launch.Value)
		}
		if exchange {
			t.Exchange = 8*float64(j.Rows)*(gpus-1)/gpus/(p.PeerIn.Value*giga) + p.Launch.Value
		}
	}
	if !resident {
		t.Merge += p.perLink(j, func(i int) float64 {
			if j.Format == sparse.FormatCSC { // the sum is on one GPU
				return 8 * float64(j.Rows) / gpus
			}
			return j.outBytes(i)
		}) / (p.HostBack.Value * giga)
	}
	return t
}

// perLink is the largest sum of bytes over the GPUs of one host link.
func (p *Platform) perLink(j Job, bytes func(i int) float64) (most float64) {
	sum := make([]float64, (len(j.Parts)-1)/p.GPUsPerLink+1)
	for i := range j.Parts {
		sum[i/p.GPUsPerLink] += bytes(i)
		most = max(most, sum[i/p.GPUsPerLink])
	}
	return most
}

// overCross is the time of what passes between the sockets.
func (p *Platform) overCross(j Job, bytes func(i int) float64) float64 {
	if p.Cross.Value == 0 {
		return 0
	}
	sum := 0.0
	for i := min(p.GPUsPerSocket, len(j.Parts)); i < len(j.Parts); i++ {
		sum += bytes(i)
	}
	return sum / (p.Cross.Value * giga)
}

// relative is the error of a modelled time.
func relative(model, measured float64) float64 { return math.Abs(model/measured - 1) }
