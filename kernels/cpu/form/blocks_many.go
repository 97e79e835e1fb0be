package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

func (b *blockForm[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V]) {
	var values simd.Expansion[V]
	x = x.First(b.cols)
	head, height, lanes := b.head.size(), b.blocks.Height, b.blocks.Values.Lanes
	end := head + b.blockRows*height
	b.head.MultiplyMany(alpha, beta, x, y)
	b.tail.MultiplyMany(alpha, beta, x, y.From(end))
	y = y.First(end).From(head)
	stream := beta == 0 && y.Streams(b.level)
	if stream {
		defer simd.Fence(b.level)
	}
	var at simd.Position
	for i, w := range b.windows {
		first := i * blockWindow
		order := b.order[first:min(first+blockWindow, b.blockRows)]
		out := y.From(first * height)
		done := min(int(w.slices)*lanes, len(order))
		simd.MultiplyBlocksMany(b.level, &b.blocks, at, int(w.slices), alpha, beta, x, order[:done], out, stream, &values)
		for _, r := range order[done:] {
			scaleRows(beta, out.From(int(r)*height), height)
		}
		at = w.after(at)
	}
}

// RowsFrom is 0: rows in CSR have more bytes.
func (b *blockForm[V]) RowsFrom() int { return 0 }
