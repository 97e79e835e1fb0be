package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// strips is how many successive rows of a window may make a strip.
var strips = []int{64, 128, 256}

// changeCycles is about what a slice takes more that has another number of columns than the one before it: the
// processor did not foresee it.
const changeCycles = 8

// chooseStrip sets strip, on which sortRows depends. Where all rows of a window are sorted by length each number of
// columns is a sweep over what the window reads of x, of which the first cache keeps little for the next sweep if it is
// long. It keeps the part of x that a strip reads, but then more slices differ from those before them in the number of
// columns. Half of the sampled windows tell what takes least.
func (p *slicePlanner[V]) chooseStrip() {
	shift := lineShift[V]()
	if p.sorted == 1 || p.r.Cols <= sampleLines<<shift {
		return
	}
	least := make([]int64, len(strips)+1) // cycles: sorted by length alone, then by strips
	n := p.windows()
	for s := range min(n, sampleWindows/2) {
		p.open(s * n / min(n, sampleWindows/2))
		if p.narrowRows.equal() {
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

// sweep is about how many cycles the lines of x that the rows of the window miss in the first cache take, in their
// order, and those slices that differ from the one before them.
func (p *slicePlanner[V]) sweep(shift int) (cycles int64) {
	var lines lineCache
	var last [2]int32
	rows := &p.narrowRows
	for i := 0; i < len(rows.order); i += p.lanes {
		full, masked := rows.widths(i, p.lanes)
		if w := [2]int32{full, masked}; w != last {
			cycles, last = cycles+changeCycles, w
		}
		for _, r := range rows.order[i:min(i+p.lanes, len(rows.order))] {
			k := p.r.at(p.first + int(r))
			cycles += simd.LineCycles() * lines.read(p.r.Idx[k:k+int64(rows.of[r])], shift)
		}
	}
	return cycles
}

// sortRows orders rows of the window by falling length, or so in each of its strips.
func (p *slicePlanner[V]) sortRows(rows *lengths) {
	rows.sort()
	if p.strip > 0 {
		rows.byStrips(p.lanes, p.strip)
	}
}
