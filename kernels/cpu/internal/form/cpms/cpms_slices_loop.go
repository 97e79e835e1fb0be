package cpms

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// SliceRows is the number of rows of a slice of HeadSlices.
const SliceRows = 8

// HeadSlices adds the rows of slices of SliceRows rows each to y:
//
//	y[8s+i] += sum over t < count[8s+i] of val[k]*x[idx[k]],  k = off[s] + 8t + i
//
// Slots after the count of a row are not used, but their indices must be valid. y and count have 8
// elements per slice; off has one element more than there are slices, all multiples of 8. scratch
// is as in HeadRows; its length is a multiple of 8.
func HeadSlices(l simd.Level, y []float64, count []int32, off []int64, e Entries, x *cpms.Heads, scratch []float64) {
	slices := len(off) - 1
	y, count = y[:slices*SliceRows], count[:slices*SliceRows]
	if e.Segments == nil {
		headSlicesFrom(l, y, count, off, e.cut(off[0], off[slices]), x)
		return
	}
	for len(y) > 0 {
		part, end := e.from(l, off[0], x.Width(), scratch)
		n := 0
		for n+1 < len(off) && off[n+1] <= end {
			n++
		}
		if n > 0 {
			part.headSlices(l, y[:n*SliceRows], count, off[:n+1], x, scratch)
		} else {
			n = 1
			e.headWide(l, y[:SliceRows], count, off[0], off[1], x, scratch)
		}
		y, count, off = y[n*SliceRows:], count[n*SliceRows:], off[n:]
		if e.Start != nil {
			e.Start = e.Start[n:]
		}
	}
}

// headWide adds, piece by piece, one slice with values in several banks.
func (e Entries) headWide(l simd.Level, y []float64, count []int32, lo, hi int64, x *cpms.Heads, scratch []float64) {
	for done := int32(0); lo < hi; {
		part, end := e.from(l, lo, x.Width(), scratch)
		end = min(end, hi)
		width := int32((end - lo) / SliceRows)
		var left [SliceRows]int32
		for i := range left {
			left[i] = min(max(count[i]-done, 0), width)
		}
		part.headSlices(l, y, left[:], []int64{lo, end}, x, scratch)
		lo, done = end, done+width
	}
}

func (p piece) headSlices(l simd.Level, y []float64, count []int32, off []int64, x *cpms.Heads, scratch []float64) {
	lo, hi := off[0], off[len(off)-1]
	switch {
	case lo == hi:
	case p.step > 0:
		headSlicesSegments(l, y, count, off, p.cut(lo, hi), p.at, p.step, x)
	default:
		headSlicesFrom(l, y, count, off, p.plain(l, lo, hi, scratch), x)
	}
}

// headSlicesFrom is HeadSlices for plain values or none, for entries that begin with off[0].
func headSlicesFrom(l simd.Level, y []float64, count []int32, off []int64, e Entries, x *cpms.Heads) {
	if l >= simd.AVX2 && len(e.Idx)+len(e.Near) > 0 {
		headSlices(l, y, count, off, e, x)
		return
	}
	for s := range len(off) - 1 {
		first := int(off[s] - off[0])
		for i := range SliceRows {
			sum := 0.0
			for t := range int(count[s*SliceRows+i]) {
				k := first + SliceRows*t + i
				if e.Plain == nil {
					sum += x.At(e.column(s, k))
				} else {
					sum += e.Plain[k] * x.At(e.column(s, k))
				}
			}
			y[s*SliceRows+i] += sum
		}
	}
}

// column returns the column of entry k, which is in slice s.
func (e Entries) column(s, k int) int {
	if e.Near != nil {
		return int(e.Start[s]) + int(e.Near[k])
	}
	return int(e.Idx[k])
}
