package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// The forms whose values lie in segments.
const (
	FormCPMSRows   kernels.Form = "csr"   // rows as in CSR
	FormCPMSSlices kernels.Form = "ell"   // slices of 8 rows, each as wide as its longest row
	FormCPMSSorted kernels.Form = "pellr" // the same after sorting rows by their length
)

// NewCPMS is the rows with their values in segments, of which every product reads
// the first p.Read; sums are formed in float64. bank is that of cpms.Layout. It
// fails with a *sparse.InputError for another precision, layout or name.
func NewCPMS(name kernels.Form, r Rows[float64], p kernels.Segments, bank int) (Form[float64], error) {
	if p.Read < 1 || p.Read > p.Count {
		return nil, sparse.Inputf("precision", "%d of %d segments: use 1 to %d", p.Read, p.Count, p.Count)
	}
	m, err := NewSegmented(name, r, cpms.Layout{Segments: p.Count, Bank: bank}, false)
	if err != nil {
		return nil, err
	}
	f := &cpmsForm{m: m, cols: r.Cols, read: p.Read}
	if f.sums, err = Make[float64](r.Mem, sumRows); err != nil {
		return nil, err
	}
	f.scratch, err = newScratch(r.Mem)
	return f, err
}

// sumRows is how many rows a product sums before it writes them to y: what they
// take stays in the nearest cache.
const sumRows = 512

type cpmsForm struct {
	m       *Segmented
	cols    int
	read    int
	sums    []float64
	scratch *SegmentScratch
}

func (f *cpmsForm) Multiply(alpha, beta float64, x, y []float64) {
	v := cpms.HeadsOf(x)
	for first := 0; first < f.m.rows; first += sumRows {
		sums := f.sums[:min(sumRows, f.m.rows-first)]
		f.m.Sums(sums, first, f.read, v, f.scratch)
		if f.m.order != nil {
			scatterSums(sums, f.m.order[first:], alpha, beta, y)
			continue
		}
		out := y[first:][:len(sums)]
		if beta == 0 {
			for i, s := range sums {
				out[i] = alpha * s
			}
			continue
		}
		for i, s := range sums {
			out[i] = alpha*s + beta*out[i]
		}
	}
}

// scatterSums writes the sums of rows to their places in y.
func scatterSums(sums []float64, order []int32, alpha, beta float64, y []float64) {
	for i, s := range sums {
		v := alpha * s
		if beta != 0 {
			v += beta * y[order[i]]
		}
		y[order[i]] = v
	}
}

func (f *cpmsForm) Bytes() int64 { return f.m.bytes + 8*int64(len(f.sums)+len(f.scratch.val)) }

func (f *cpmsForm) Padding() int64 { return f.m.padding }

func (f *cpmsForm) Name() string {
	return fmt.Sprintf("cpms%d:%d, %s, %s", f.m.layout.Segments, f.read, f.m.name, f.m.layout)
}
