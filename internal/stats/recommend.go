package stats

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// Recommendation is a format for products, and the reason for it.
type Recommendation struct {
	Format sparse.Format `json:"format"`
	Why    string        `json:"why"`
}

// Recommend returns the format among csr, coo and sparse/ellpack that is fastest on one
// CPU core, by a model of the time of a product:
//
//	max(step*N_iter + work*N_p + row*rows, (bytes - 32 MiB)/25)   nanoseconds
//
// N_iter and N_p are Equations (1) and (2) of the PELLR paper for the format
// (Cost.WarpIterations and Cost.Work), rows is the number of rows, and bytes is what a
// product reads and writes. step, work and row are constants of each format, fitted to
// times measured on one Zen 5 core. The second argument of max is the time to read from
// memory what exceeds a cache of 32 MiB, at 25 bytes per nanosecond. csc is left out
// because each of its parts returns a vector as long as y, and these must be added.
func (s *Stats) Recommend() Recommendation {
	order := append([]sparse.Format{sparse.FormatCSR, sparse.FormatCOO}, ellpack.Formats()...)
	return s.choose(order, s.nanoseconds, "us on one core", 1e-3)
}

// RecommendGPU returns the format among csr and sparse/ellpack that is fastest on a GPU,
// by a model of the cost of its kernel:
//
//	max(bytes, 5.3*instructions)
//
// where bytes is the number of bytes that a product reads and writes, and instructions is
// the number of warp instructions: a linear function of Cost.WarpIterations, Cost.Work and
// the number of warps, fitted for each format to the counts of the PTX interpreter. An H100
// moves 5.3 bytes in the time of one warp instruction. The model assumes a matrix that is
// large enough to occupy the whole GPU.
//
// If one row is much longer than the others, RecommendGPU returns csr: in other formats a
// single thread would take 0.2 to 0.4 us per entry of that row on an H100, after all
// other rows are done. hyb is left out because Equation (1) does not cover its
// coordinates.
func (s *Stats) RecommendGPU() Recommendation {
	if s.hasLongRow() {
		return Recommendation{sparse.FormatCSR, fmt.Sprintf("a row has %d entries: other formats give it to few threads, for which a GPU would wait", s.Row.Max)}
	}
	order := append([]sparse.Format{sparse.FormatCSR}, ellpack.Formats()...)
	r := s.choose(order, s.gpuBytes, "kB, an instruction of a warp counted as 5.3 bytes,", 1e-3)
	r.Why += "; checked by counts, not by times"
	return r
}

// choose returns the format of the least cost. model returns +Inf for a format that it
// does not cover.
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
	return Recommendation{best, fmt.Sprintf("%.3g %s by the model; the next, %s, costs %.2f times as much", least*scale, unit, second, next/least)}
}

// fits reports whether devices accept the matrix in a format. Only ell is refused for its
// padding, because devices store the other formats with a width per warp.
func (s *Stats) fits(f sparse.Format) bool {
	c, ok := s.Formats[string(f)]
	return ok && c.Bytes < math.MaxInt64 && (f != ellpack.FormatELL || c.Bytes <= ellpack.Bound(s.Formats["csr"].Bytes))
}
