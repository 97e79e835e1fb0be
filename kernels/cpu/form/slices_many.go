package form

import (
	"sync"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

func (s *slicesForm[V]) MultiplyMany(alpha, beta V, x, y simd.Block[V]) {
	x, y = x.First(s.cols), y.First(s.rows)
	m := manySlices[V]{slicesForm: s, alpha: alpha, x: x}
	order, long, lanes := s.rowOf, s.long.pieces, s.narrow.Values.Lanes
	stream := beta == 0 && len(long) == 0 && y.Streams(s.level)
	if stream {
		defer simd.Fence(s.level)
	}
	for i := range s.windows {
		w := &s.windows[i]
		first := i * s.size
		rows, out := min(s.size, s.rows-first), y.From(first)
		list := successiveRows()[:rows]
		if w.sorted {
			list, order = order[:rows], order[rows:]
		}
		switch narrow, wide := int(w.narrow.slices), int(w.wide.slices); {
		case wide == 0:
			m.addNarrow(w, beta, list, out, stream)
		case !w.joint:
			m.addNarrow(w, beta, list, out, false)
			m.addWide(w, 1, order[:w.listed], out, false)
			order = order[w.listed:]
		case narrow >= wide: // those that have all rows first
			m.addNarrow(w, beta, list, out, false)
			m.addWide(w, 1, list[:min(wide*lanes, rows)], out, false)
		default:
			m.addWide(w, beta, list, out, stream && narrow == 0)
			m.addNarrow(w, 1, list[:min(narrow*lanes, rows)], out, false)
		}
		for ; len(long) > 0 && long[0].after == i; long = long[1:] {
			long[0].pass(lanes, &m.narrowAt, &m.wideAt)
		}
	}
	for i := range s.long.pieces { // once their rows of y were written
		s.multiplyPieceMany(&s.long.pieces[i], alpha, x, y, &m.values)
	}
}

// manySlices is a product of slices with several vectors, and how far it is.
type manySlices[V sparse.Value] struct {
	*slicesForm[V]
	alpha            V
	x                simd.Block[V]
	values           simd.Expansion[V]
	narrowAt, wideAt simd.Position
}

// addNarrow makes rows of y beta*y and adds the narrow slices of a window, the next ones, which have the first of them.
func (m *manySlices[V]) addNarrow(w *window, beta V, rows []uint16, y simd.Block[V], stream bool) {
	simd.MultiplySlicesMany(m.level, &m.narrow, m.narrowAt, int(w.narrow.slices), m.alpha, beta, m.x.From(int(w.base)), rows, y, stream, &m.values)
	m.narrowAt = w.narrow.after(m.narrowAt)
}

// addWide is addNarrow for the wide slices.
func (m *manySlices[V]) addWide(w *window, beta V, rows []uint16, y simd.Block[V], stream bool) {
	simd.MultiplySlicesMany(m.level, &m.wide, m.wideAt, int(w.wide.slices), m.alpha, beta, m.x, rows, y, stream, &m.values)
	m.wideAt = w.wide.after(m.wideAt)
}

// multiplyPieceMany adds a piece to its row of y: all lanes of its slice are one row.
func (s *slicesForm[V]) multiplyPieceMany(p *piece, alpha V, x, y simd.Block[V], values *simd.Expansion[V]) {
	lanes := s.narrow.Values.Lanes
	var same [16]uint16
	y = y.From(s.long.row[p.row])
	if p.wide {
		simd.MultiplySlicesMany(s.level, &s.wide, p.at, 1, alpha, 1, x, same[:lanes], y, false, values)
	} else {
		simd.MultiplySlicesMany(s.level, &s.narrow, p.at, 1, alpha, 1, x.From(int(p.base)), same[:lanes], y, false, values)
	}
}

// RowsFrom is 1 where most rows were sorted by length: what they have in common
// of x, which is more than with one vector, then leaves the nearest cache. So it is
// where most are long, each piece of which adds to a row of y.
func (s *slicesForm[V]) RowsFrom() int {
	if len(s.order)+len(s.long.row) > s.rows/2 {
		return 1
	}
	return 0
}

// suitedBytes is up to how many bytes of x and y sorted rows find them in the caches again. It was measured
// on Zen 5 only, whose last cache has 32 MB.
const suitedBytes = 10 << 20

// Suits implements Suited: no branch depends on the length of a row. More columns than slices sum at once
// are faster by the rows in CSR, which sum twice as many, and so are those most of which are long.
func (s *slicesForm[V]) Suits(x, y simd.Block[V]) bool {
	return s.level >= simd.AVX2 && 2*len(s.long.row) <= s.rows && x.Cols <= simd.SlicedAtOnce[V](s.level) && int64(len(x.Val)+len(y.Val))*mem.Size[V]() <= suitedBytes
}

// successiveRows is the order of a window that is not sorted.
var successiveRows = sync.OnceValue(func() []uint16 {
	order := make([]uint16, narrowSpan)
	for i := range order {
		order[i] = uint16(i)
	}
	return order
})
