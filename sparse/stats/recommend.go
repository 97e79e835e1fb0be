package stats

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// Recommendation is a format to multiply in, and why.
type Recommendation struct {
	Format sparse.Format `json:"format"`
	Why    string        `json:"why"`
}

// Recommend says which format of csr, coo and sparse/ellpack multiplies fastest on one
// core of a CPU, by a model of its time:
//
//	max(step*N_iter + work*N_p + row*rows, (bytes - 32 MiB)/25)   nanoseconds
//
// N_iter and N_p are Equations (1) and (2) of the PELLR paper, of each format; step, work
// and row are from cpuCosts. The last term is for matrices beyond the caches. csc is left
// out, as it must merge whole vectors.
func (s *Stats) Recommend() Recommendation {
	order := append([]sparse.Format{sparse.FormatCSR, sparse.FormatCOO}, ellpack.Formats()...)
	return s.choose(order, s.nanoseconds, "us on one core", 1e-3)
}

// RecommendGPU says which format of csr and sparse/ellpack a GPU multiplies fastest, by
// a model of what its kernels cost:
//
//	max(bytes, 5.3*instructions)
//
// with the bytes that a product reads and writes, and the instructions of warps, which
// follow from Equations (1) and (2) of the PELLR paper by gpuCosts. An instruction takes as
// long as 5.3 bytes on an H100. So it is for matrices that keep a GPU busy.
//
// Where one row is much longer than the others it recommends csr: a single thread would
// take 0.2 to 0.4 us for each entry of that row on an H100, after all others are done.
// hyb is left out, as Equation (1) does not say how long its coordinates take.
func (s *Stats) RecommendGPU() Recommendation {
	if s.hasLongRow() {
		return Recommendation{sparse.FormatCSR, fmt.Sprintf("a row has %d entries: other formats give it to few threads, for which a GPU would wait", s.Row.Max)}
	}
	order := append([]sparse.Format{sparse.FormatCSR}, ellpack.Formats()...)
	r := s.choose(order, s.gpuBytes, "kB, an instruction of a warp counted as 5.3 bytes,", 1e-3)
	r.Why += "; checked by counts, not by times"
	return r
}

// choose takes the format that costs least. A model gives +Inf for a format that it
// does not know.
func (s *Stats) choose(order []sparse.Format, model func(sparse.Format) float64, unit string, scale float64) Recommendation {
	if s.NNZ == 0 {
		return Recommendation{sparse.FormatCSR, "no entries: nothing is read but x and y"}
	}
	best, second := sparse.FormatCSR, sparse.Format("")
	least, next := math.Inf(1), math.Inf(1)
	for _, f := range order {
		if !s.fits(f) {
			continue
		}
		switch t := model(f); {
		case t < least:
			best, second, least, next = f, best, t, least
		case t < next:
			second, next = f, t
		}
	}
	if second == "" {
		return Recommendation{best, "other formats take too many bytes"}
	}
	return Recommendation{best, fmt.Sprintf("%.3g %s by the model; the next is %s with %.2f times as many", least*scale, unit, second, next/least)}
}

// fits says whether a device takes the matrix in a format. ell alone is refused for its
// padding, as the others are cut into warps.
func (s *Stats) fits(f sparse.Format) bool {
	c, ok := s.Formats[string(f)]
	return ok && c.Bytes < math.MaxInt64 && (f != ellpack.FormatELL || c.Bytes <= ellpack.Bound(s.Formats["csr"].Bytes))
}
