package slices

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// strips has the possible numbers of rows of a strip.
var strips = []int{64, 128, 256}

// changeCycles is about the cost of a slice that has another number of columns than the one before
// it: a branch misprediction.
const changeCycles = 8

// chooseStrip sets strip, which sortRows uses. If all rows of a window are sorted by length, the
// slices of each length read elements of x from the whole range of the window. The first-level
// cache does not keep a large range until the slices of the next length. It keeps the range of a
// strip, but with strips more slices differ in length from the one before. chooseStrip compares the
// cycles on a sample of the windows.
func (p *slicePlanner[V]) chooseStrip() {
	shift := form.LineShift[V]()
	if p.sorted == 1 || p.r.Cols <= form.SampleLines<<shift {
		return
	}
	least := make([]int64, len(strips)+1) // cycles: sorted by length alone, then by each of strips
	n := p.windows()
	for s := range min(n, form.SampleWindows/2) {
		p.open(s * n / min(n, form.SampleWindows/2))
		if p.narrowRows.Equal() {
			continue
		}
		for i := range least {
			p.strip = 0
			if i > 0 {
				p.strip = strips[i-1]
			}
			p.sortRows(&p.narrowRows)
			least[i] += p.sweep(shift)
		}
	}
	p.strip = 0
	for i, strip := range strips {
		if least[i+1] < least[0] {
			least[0], p.strip = least[i+1], strip
		}
	}
}

// sweep returns about the number of cycles for the cache lines of x that the rows of the window
// miss in the first-level cache, in their order, and for slices that differ in length from the one
// before.
func (p *slicePlanner[V]) sweep(shift int) (cycles int64) {
	var lines form.LineCache
	var last [2]int32
	rows := &p.narrowRows
	for i := 0; i < len(rows.Order); i += p.lanes {
		full, masked := rows.Widths(i, p.lanes)
		if w := [2]int32{full, masked}; w != last {
			cycles, last = cycles+changeCycles, w
		}
		for _, r := range rows.Order[i:min(i+p.lanes, len(rows.Order))] {
			k := p.r.At(p.first + int(r))
			cycles += form.LineCycles() * lines.Read(p.r.Idx[k:k+int64(rows.Counts[r])], shift)
		}
	}
	return cycles
}

// sortRows orders the rows of the window by decreasing length, within each strip if there are
// strips.
func (p *slicePlanner[V]) sortRows(rows *form.Lengths) {
	rows.Sort()
	if p.strip > 0 {
		rows.ByStrips(p.lanes, p.strip)
	}
}
