package experiment

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
	segments "github.com/msrep-go/msrep/sparse/cpms"
)

// cpmsCase is a way to read values and x, both with the same number of bits.
type cpmsCase struct {
	name   string
	layout segments.Layout // Segments 0: plain float64, or no values
	read   int
	bits   int
	none   bool // the matrix has no values
	near   bool // 2-byte columns where columns are near each other, else 4 bytes
}

// The first two of cpmsCases are the baselines: plain float64, and no values, which is the product of folded weights.
const (
	plainValues = iota
	noValues
	firstCase // the first case in reports
)

// cpmsCases returns the cases of Figure 9, and for ell also those with near columns.
func cpmsCases(format string) (c []cpmsCase) {
	c = []cpmsCase{{name: "fp64", bits: 64, read: 1}, {name: "no values", bits: 64, read: 1, none: true}}
	for _, bank := range cpmsBanks {
		for _, l := range []segments.Layout{{Segments: 2, Bank: bank}, {Segments: 4, Bank: bank}} {
			for k := 1; k <= l.Segments; k++ {
				c = append(c, cpmsCase{name: fmt.Sprintf("%d bits, %d-seg, %s", k*l.Bits(), l.Segments, bankName(bank)), layout: l, read: k, bits: k * l.Bits()})
			}
		}
	}
	if format != "ell" {
		return c
	}
	two, four := segments.Layout{Segments: 2}, segments.Layout{Segments: 4}
	return append(c,
		cpmsCase{name: "fp64, near columns", bits: 64, read: 1, near: true},
		cpmsCase{name: "16 bits, near columns", layout: four, read: 1, bits: 16, near: true},
		cpmsCase{name: "32 bits, near columns", layout: two, read: 1, bits: 32, near: true},
		cpmsCase{name: "48 bits, near columns", layout: four, read: 3, bits: 48, near: true})
}

// cpmsBanks are the layouts of the paper.
var cpmsBanks = []int{128, 8192, segments.Separated}

// bankName returns a short name of a layout.
func bankName(bank int) string {
	switch bank {
	case segments.Separated:
		return "separated"
	case 8192:
		return "8 KiB"
	}
	return fmt.Sprintf("%d B", bank)
}

// cpmsProducts times y = A*x in all cases, alternately, and returns the median seconds. The values are those that
// PageRank stores: 1 over a small integer.
func (s *Session) cpmsProducts(ctx context.Context, format, name string, a *sparse.CSR[float64]) (medians []float64, err error) {
	val := make([]float64, len(a.ColIdx))
	for k, j := range a.ColIdx {
		val[k] = 1 / float64(3+j%5)
	}
	type key struct {
		layout     segments.Layout
		none, near bool
	}
	cases := cpmsCases(format)
	forms, xs := map[key]*cpu.Segmented{}, map[int]*segments.Heads{}
	for _, c := range cases {
		k := key{c.layout, c.none, c.near}
		if forms[k] == nil {
			if forms[k], err = cpmsForm(format, a, val, c); err != nil {
				return nil, err
			}
		}
		if xs[c.bits] == nil {
			if xs[c.bits], err = segments.NewHeads(a.Cols, c.bits/8); err != nil {
				return nil, err
			}
			for i := range a.Cols {
				xs[c.bits].Set(i, 1/float64(i+1))
			}
		}
	}
	p := newSums(a.Rows)
	samples, err := measure.Repeat(ctx, s.Options, func() (seconds []float64, err error) {
		for _, c := range cases {
			seconds = append(seconds, p.time(forms[key{c.layout, c.none, c.near}], c.read, xs[c.bits]).Seconds())
		}
		return seconds, ctx.Err()
	})
	for i, v := range samples {
		medians = append(medians, s.Record.Add("cpms", name+" "+format, "product, "+cases[i].name, v).Median)
	}
	return medians, err
}

// cpmsForm builds the form of the matrix for a case.
func cpmsForm(format string, a *sparse.CSR[float64], val []float64, c cpmsCase) (*cpu.Segmented, error) {
	r := cpu.SegmentedRows{Ptr: a.RowPtr, Idx: a.ColIdx, Cols: a.Cols}
	if !c.none {
		r.Val = val
	}
	l := c.layout
	l.Segments = max(l.Segments, 2)
	m, err := cpu.NewSegmented(kernels.Form(format), r, l, !c.near)
	if err == nil && c.layout.Segments == 0 {
		m.Join()
	}
	return m, err
}

// sums is the state that the threads of a product share.
type sums struct {
	y       []float64
	scratch []*cpu.SegmentScratch
}

// sumBlock is the number of rows that a thread takes at a time: a multiple of the rows of a slice.
const sumBlock = 4096

func newSums(rows int) *sums {
	p := &sums{y: make([]float64, rows)}
	for range par.Workers(int64(rows), sumBlock) {
		p.scratch = append(p.scratch, cpu.NewSegmentScratch())
	}
	return p
}

// time returns the time of one product.
func (p *sums) time(m *cpu.Segmented, read int, x *segments.Heads) time.Duration {
	begin := time.Now()
	var next atomic.Int64
	par.Do(len(p.scratch), func(w int) {
		for {
			first := int(next.Add(1)-1) * sumBlock
			if first >= len(p.y) {
				return
			}
			m.Sums(p.y[first:min(first+sumBlock, len(p.y))], first, read, x, p.scratch[w])
		}
	})
	return time.Since(begin)
}
