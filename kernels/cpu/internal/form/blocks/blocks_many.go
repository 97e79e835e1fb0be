package blocks

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func (b *blockForm[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	var values form.Expansion[V]
	x = x.First(b.cols)
	head, height, lanes := b.head.Size(), b.blocks.Height, b.blocks.Values.Lanes
	end := head + b.blockRows*height
	b.head.MultiplyMany(alpha, beta, x, y)
	b.tail.MultiplyMany(alpha, beta, x, y.From(end))
	y = y.First(end).From(head)
	stream := beta == 0 && y.Streams(b.level)
	if stream {
		defer form.Fence(b.level)
	}
	var at form.Position
	for i, w := range b.windows {
		first := i * blockWindow
		order := b.order[first:min(first+blockWindow, b.blockRows)]
		out := y.From(first * height)
		done := min(int(w.Slices)*lanes, len(order))
		MultiplyBlocksMany(b.level, &b.blocks, at, int(w.Slices), alpha, beta, x, order[:done], out, stream, &values)
		for _, r := range order[done:] {
			form.ScaleRows(beta, out.From(int(r)*height), height)
		}
		at = w.After(at)
	}
}

// RowsFrom is 0: rows in CSR have more bytes.
func (b *blockForm[V]) RowsFrom() int { return 0 }
