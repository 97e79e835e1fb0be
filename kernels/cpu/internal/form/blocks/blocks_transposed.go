package blocks

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func (b *blockForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	head, height := b.head.Size(), b.blocks.Height
	end := head + b.blockRows*height
	b.head.MultiplyTransposed(alpha, x[:head], to)
	b.tail.MultiplyTransposed(alpha, x[end:], to)
	x = x[head:end]
	var at form.Position
	var sums [BlockMax * maxLanes]V
	for i, w := range b.windows {
		n := min(blockWindow, b.blockRows-i*blockWindow)
		part := x[i*blockWindow*height:][:n*height]
		before, after := form.Factors(b.level, alpha, part)
		b.factors(b.order[i*blockWindow:i*blockWindow+n], before, part)
		if lo, hi := b.blocks.Span(b.level, at, int(w.Slices)); lo < hi {
			AddBlocksTransposed(b.level, &b.blocks, at, int(w.Slices), after, b.sums, to(lo, hi), lo, sums[:])
		}
		at = w.After(at)
	}
}

// maxLanes is the greatest number of lanes of a register.
const maxLanes = 16

// factors sets b.sums to alpha*x of the rows of a window, in the order of the lanes. It is the
// inverse of place.
func (b *blockForm[V]) factors(order []uint16, alpha V, x []V) {
	lanes, height := b.blocks.Values.Lanes, b.blocks.Height
	factors := b.sums
	for len(order) > 0 {
		n := min(lanes, len(order))
		for lane, r := range order[:n] {
			at := lane
			for _, v := range x[int(r)*height:][:height] {
				factors[at] = alpha * v
				at += lanes
			}
		}
		order, factors = order[n:], factors[lanes*height:]
	}
}
