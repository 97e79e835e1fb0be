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

// overhead is what a kernel costs on a CPU beside the bytes it reads, as bytes that
// would be read meanwhile: for each row, and for each place for an entry.
type overhead struct{ row, place float64 }

// overheads of the formats, fitted to the times of 209 matrices in the caches of one
// core of Zen 4, and what csr loses to sell on long rows on Zen 5 (docs/formats.md).
// csr and sell run in assembly, the others in plain Go.
var overheads = map[sparse.Format]overhead{
	sparse.FormatCSR:        {row: 60, place: 1}, // sell was as fast or faster on 204 of 208 matrices
	sparse.FormatCOO:        {row: 230, place: 24},
	ellpack.FormatSELL:      {row: 45},
	ellpack.FormatELL:       {row: 100, place: 24},
	ellpack.FormatELLR:      {row: 100, place: 24},
	ellpack.FormatPELLR:     {row: 100, place: 24},
	ellpack.FormatPELLRWarp: {row: 100, place: 24},
	ellpack.FormatBiELL:     {row: 200, place: 32},
	ellpack.FormatBiJAD:     {row: 200, place: 32},
	ellpack.FormatJAD:       {row: 75, place: 60},
	ellpack.FormatHYB:       {row: 50, place: 48},
	ellpack.FormatHYBMean:   {row: 50, place: 48},
}

// sellPadding bounds the padding of sell for each entry: slices of CPU devices are
// lower than a warp, and long rows are cut into pieces there.
const sellPadding = 0.005

// Recommend says which format is likely to multiply fastest on a CPU: the one with
// the least of
//
//	bytes of the arrays + row*rows + place*(nnz + padding)
//
// with row and place from a table that was fitted to measured times; of the padding of
// sell, at most 0.5 % of the entries count. x and y are the same for all formats. csc is
// left out: it must merge whole vectors.
func (s *Stats) Recommend() Recommendation {
	order := append([]sparse.Format{sparse.FormatCSR, sparse.FormatCOO}, ellpack.Formats()...)
	best, second := sparse.FormatCSR, sparse.Format("")
	least, next := math.Inf(1), math.Inf(1)
	for _, f := range order {
		c, ok := s.Formats[string(f)]
		if !ok {
			continue
		}
		o, bytes := overheads[f], float64(c.Bytes)
		if f == ellpack.FormatSELL {
			entry := float64(s.Formats["coo"].Bytes)/float64(max(s.NNZ, 1)) - indexBytes
			bytes -= entry * max(0, float64(c.Padding)-sellPadding*float64(s.NNZ))
		}
		t := bytes + o.row*float64(s.Rows) + o.place*(float64(s.NNZ)+float64(c.Padding))
		switch {
		case t < least:
			best, second, least, next = f, best, t, least
		case t < next:
			second, next = f, t
		}
	}
	if s.NNZ == 0 {
		return Recommendation{sparse.FormatCSR, "no entries: nothing is read but x and y"}
	}
	return Recommendation{best, fmt.Sprintf("%.0f bytes a product, what each row costs counted as bytes too; the next is %s with %.0f (%.2f times as many)", least, second, next, next/least)}
}
