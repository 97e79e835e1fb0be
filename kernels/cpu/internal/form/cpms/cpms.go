// The layout of the forms with values in segments, for FormCPMSSorted ("pellr"):
//
//	     0 1 2 3 4 5 6 7     rows by decreasing length: 2 0 3 1 4
//	  0  a . . b . . . .
//	  1  . c . . . . . .     slice 0  row 2 0 3 1 4 - - -    8 rows
//	  2  . . d e . . f .                  d a g c i - - -
//	  3  g . . . . . . h                  e b h - - - - -
//	  4  . . . . i . . .                  f - - - - - - -
//
//	order  2 0 3 1 4                                            the row in each position
//	ptr    0 24                                                 first slot of each slice
//	count  3 2 2 1 1 0 0 0                                      number of entries of each row
//	start  0                                                    least column of each slice
//	near   2 0 0 1 4 - - -  3 3 7 - - - - -  6 - - - - - - -    column minus start; idx if that
//	                                                            does not fit in 16 bits
//	val    24 values, each cut into 2 or 4 segments. With 2 segments, dH the high and dL the low 32
//	       bits of d, and the separated layout:
//	       dH aH gH cH iH - - - eH ... fH ... dL aL gL cL iL - - - eL ... fL ...
//
//	"ell" is the same without order: rows stay in their order. "csr" has ptr, idx and val as in CSR,
//	with the values in segments. - is padding.

package cpms

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// The forms that store values in segments.
const (
	FormCPMSRows   kernels.Form = "csr"   // rows as in CSR
	FormCPMSSlices kernels.Form = "ell"   // slices of 8 rows, each as wide as its longest row
	FormCPMSSorted kernels.Form = "pellr" // slices of 8 rows after sorting the rows by length
)

// NewCPMS stores the values of the rows in p.Segments segments. Every product reads the first
// p.Read segments of each value and sums in float64. bank is the Bank of the cpms.Layout. NewCPMS
// fails with a *sparse.InputError if p, the layout or the name is invalid.
func NewCPMS(name kernels.Form, r form.Rows[float64], p kernels.Segments, bank int) (form.Form[float64], error) {
	if p.Read < 1 || p.Read > p.Count {
		return nil, sparse.Inputf("precision", "reading %d of %d segments: use 1 to %d", p.Read, p.Count, p.Count)
	}
	m, err := NewSegmented(name, r, cpms.Layout{Segments: p.Count, Bank: bank}, false)
	if err != nil {
		return nil, err
	}
	f := &cpmsForm{m: m, cols: r.Cols, read: p.Read}
	if f.sums, err = form.Make[float64](r.Mem, sumRows); err != nil {
		return nil, err
	}
	f.scratch, err = newScratch(r.Mem)
	return f, err
}

// sumRows is the number of rows that a product sums before it writes them to y. The sums stay in
// the first-level cache.
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
			storeSums(sums, f.m.order[first:], alpha, beta, y)
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

// storeSums computes y[order[i]] = alpha*sums[i] + beta*y[order[i]].
func storeSums(sums []float64, order []int32, alpha, beta float64, y []float64) {
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
