package slices

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

func (s *slicesForm[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	x, y = x.First(s.cols), y.First(s.rows)
	m := manySlices[V]{slicesForm: s, alpha: alpha, x: x}
	order, long, lanes := s.rowOf, s.long.pieces, s.narrow.Values.Lanes
	stream := beta == 0 && len(long) == 0 && y.Streams(s.level)
	if stream {
		defer form.Fence(s.level)
	}
	for i := range s.windows {
		w := &s.windows[i]
		first := i * s.size
		rows, out := min(s.size, s.rows-first), y.From(first)
		list := form.SuccessiveRows()[:rows]
		if w.sorted {
			list, order = order[:rows], order[rows:]
		}
		switch narrow, wide := int(w.narrow.Slices), int(w.wide.Slices); {
		case wide == 0:
			m.addNarrow(w, beta, list, out, stream)
		case !w.joint:
			m.addNarrow(w, beta, list, out, false)
			m.addWide(w, 1, order[:w.listed], out, false)
			order = order[w.listed:]
		case narrow >= wide: // the slices that have all rows first
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
	for pieces := s.long.pieces; len(pieces) > 0; { // after their rows of y were written
		pieces = pieces[m.addPieces(pieces, y):]
	}
}

// manySlices is the state of a product of slices with several vectors.
type manySlices[V sparse.Value] struct {
	*slicesForm[V]
	alpha            V
	x                form.MultiVector[V]
	values           form.Expansion[V]
	narrowAt, wideAt form.Position
}

// addNarrow scales rows of y by beta and adds the products of the next narrow slices, those of
// window w, which have the first of these rows.
func (m *manySlices[V]) addNarrow(w *window, beta V, rows []uint16, y form.MultiVector[V], stream bool) {
	MultiplySlicesMany(m.level, &m.narrow, m.narrowAt, int(w.narrow.Slices), m.alpha, beta, m.x.From(int(w.base)), rows, y, stream, &m.values)
	m.narrowAt = w.narrow.After(m.narrowAt)
}

// addWide is addNarrow for wide slices.
func (m *manySlices[V]) addWide(w *window, beta V, rows []uint16, y form.MultiVector[V], stream bool) {
	MultiplySlicesMany(m.level, &m.wide, m.wideAt, int(w.wide.Slices), m.alpha, beta, m.x, rows, y, stream, &m.values)
	m.wideAt = w.wide.After(m.wideAt)
}

// addPieces adds as many of the first pieces as one call can multiply to their rows of y. It
// returns their number.
func (m *manySlices[V]) addPieces(pieces []piece, y form.MultiVector[V]) int {
	var rows [AddedAtOnce]uint16
	p, n, at := &pieces[0], 0, m.long.row
	first := max(0, at[p.row]-form.NarrowSpan/2)
	for n < min(len(pieces), len(rows)) && pieces[n].follows(p) && uint(at[pieces[n].row]-first) < form.NarrowSpan {
		rows[n] = uint16(at[pieces[n].row] - first)
		n++
	}
	y = y.From(first)
	if p.wide {
		AddSlicesMany(m.level, &m.wide, p.at, m.alpha, m.x, rows[:n], y, &m.values)
	} else {
		AddSlicesMany(m.level, &m.narrow, p.at, m.alpha, m.x.From(int(p.base)), rows[:n], y, &m.values)
	}
	return n
}

// RowsFrom is 1 if most rows were sorted by length: sorted rows share elements of x that with
// several vectors do not stay in the first-level cache.
func (s *slicesForm[V]) RowsFrom() int {
	if len(s.order) > s.rows/2 {
		return 1
	}
	return 0
}

// suitedBytes is the largest size of x and y with which sorted rows find them in the caches. It was
// measured only on Zen 5, with a last-level cache of 32 MB.
const suitedBytes = 10 << 20

// Suits implements Suited: slices have no branch that depends on the length of a row. For more
// columns than slices sum at once, rows in CSR are faster, because they sum twice as many.
func (s *slicesForm[V]) Suits(x, y form.MultiVector[V]) bool {
	return s.level >= simd.AVX2 && x.Cols <= form.SlicedAtOnce[V](s.level) && int64(len(x.Val)+len(y.Val))*mem.Size[V]() <= suitedBytes
}
