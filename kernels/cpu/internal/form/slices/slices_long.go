package slices

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// longRows has the rows of slices that are divided into pieces.
type longRows[V sparse.Value] struct {
	row    []int
	sums   []V // sums of these rows, for the current product
	pieces []piece
}

// piece is a slice of successive entries of one long row.
type piece struct {
	row      int   // index of the row in longRows
	after    int   // the window after which the piece is multiplied
	from, to int64 // range of entries in Rows
	base     int32 // base column of narrow entries
	greatest int32 // greatest column
	wide     bool
	at       form.Position // position of its slice among the wide or the narrow slices
}

// group returns the size of the slice of a piece.
func (p *piece) group(lanes int) form.Group {
	n := p.to - p.from
	g := form.Group{Slices: 1, Columns: int32(n / int64(lanes))}
	if n%int64(lanes) != 0 {
		g.Columns++
		g.Masks = 1
	}
	return g
}

// longestPiece is the largest number of entries of a piece: their elements of x should fit in the
// second-level cache. shortestPiece is the least number of entries of a narrow piece.
const (
	longestPiece  = 1 << 13
	shortestPiece = 1 << 8
)

// cutLong divides the long rows of the current window into pieces.
func (b *sliceBuilder[V]) cutLong() {
	for r, left := 0, b.long; left > 0; r++ {
		if !b.isLong(r) {
			continue
		}
		left--
		long := &b.out.long
		long.row = append(long.row, b.first+r)
		k, end := b.r.At(b.first+r), b.r.At(b.first+r+1)
		for k < end {
			p := piece{row: len(long.row) - 1, from: k}
			most := min(end, k+longestPiece)
			lo, hi := form.MinMax(b.level, b.r.Idx[k:most])
			if p.to = most; hi-lo >= form.NarrowSpan {
				p.to, lo, hi = b.reach(k, most)
			}
			if p.to < most && p.to-k < shortestPiece {
				p.to, p.wide = most, true
				lo, hi = form.MinMax(b.level, b.r.Idx[k:most])
			}
			p.base, p.greatest = lo, hi
			long.pieces = append(long.pieces, p)
			k = p.to
		}
	}
}

// reach returns the end of the longest range of entries that begins with k, ends before or at most,
// and has narrow columns; and the least and the greatest column of the range.
func (b *sliceBuilder[V]) reach(k, most int64) (to int64, lo, hi int32) {
	lo, hi = b.r.Idx[k], b.r.Idx[k]
	for to = k + 1; to < most; to++ {
		a, c := min(lo, b.r.Idx[to]), max(hi, b.r.Idx[to])
		if c-a >= form.NarrowSpan {
			break
		}
		lo, hi = a, c
	}
	return to, lo, hi
}

// fillPiece stores a piece of a long row.
func (b *sliceBuilder[V]) fillPiece(p *piece) {
	to, at := &b.out.narrow, &b.narrowAt
	if p.wide {
		to, at = &b.out.wide, &b.wideAt
	}
	p.at = *at
	g := p.group(b.lanes)
	to.Widths[2*at.Slice], to.Widths[2*at.Slice+1] = uint32(g.Columns-g.Masks), uint32(g.Masks)
	if g.Masks > 0 {
		to.Masks[at.Mask] = 1<<((p.to-p.from)%int64(b.lanes)) - 1
	}
	all := entries[V]{b.r.Idx[p.from:p.to], b.r.Val[p.from:p.to]}
	if to.Regular != nil {
		all = b.reordered.regularizePiece(all, b.lanes, int(g.Columns-g.Masks), to.Regular[2*at.Slice:][:2])
	}
	b.put(to, at.Column*b.lanes, 1, p.base, all.idx, all.val)
	*at = g.After(*at)
}

// place sets the window after which each piece is multiplied: the first window such that the
// windows so far have read up to the piece's greatest column. reached has that column for each
// window. The piece's elements of x are then in a cache, and pieces of several rows that read the
// same elements are adjacent.
func (l *longRows[V]) place(reached []int32) {
	l.sums = make([]V, len(l.row))
	for i := range l.pieces {
		p := &l.pieces[i]
		after, _ := slices.BinarySearch(reached, p.greatest)
		p.after = min(after, len(reached)-1)
	}
	slices.SortStableFunc(l.pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.base, b.base))
	})
	for i := 1; i < len(l.pieces); i++ { // one call multiplies pieces with the same base
		p, next := &l.pieces[i-1], &l.pieces[i]
		if p.after == next.after && !p.wide && !next.wide && next.greatest-p.base < form.NarrowSpan {
			next.base = p.base
		}
	}
}

// pass moves the position of the piece's kind of slices past the piece.
func (p *piece) pass(lanes int, narrow, wide *form.Position) {
	if p.wide {
		*wide = p.group(lanes).After(*wide)
	} else {
		*narrow = p.group(lanes).After(*narrow)
	}
}

// sumPieces adds as many of the first pieces as one call can multiply to the sums of their rows. It
// returns their number.
func (s *slicesForm[V]) sumPieces(pieces []piece, x []V) int {
	lanes, first, n := s.narrow.Values.Lanes, &pieces[0], 1
	for n < min(len(pieces), len(s.sums)/lanes) && pieces[n].follows(first) {
		n++
	}
	if first.wide {
		MultiplySlices(s.level, &s.wide, first.at, n, x, nil, s.sums)
	} else {
		MultiplySlices(s.level, &s.narrow, first.at, n, x[first.base:], nil, s.sums)
	}
	for i := range pieces[:n] {
		var a, b, c, d V // four sums, so that consecutive additions are independent
		for v := s.sums[i*lanes : (i+1)*lanes]; len(v) > 0; v = v[4:] {
			a, b, c, d = a+v[0], b+v[1], c+v[2], d+v[3]
		}
		s.long.sums[pieces[i].row] += (a + b) + (c + d)
	}
	return n
}

// follows reports whether one call can multiply first and the pieces after it up to p.
func (p *piece) follows(first *piece) bool {
	return p.after == first.after && p.wide == first.wide && (p.wide || p.base == first.base)
}

// finish adds the sums of the long rows to y and clears them.
func (l *longRows[V]) finish(alpha V, y []V) {
	for i, r := range l.row {
		y[r] = form.RowValue(alpha, 1, l.sums[i], y[r])
	}
	clear(l.sums)
}

// addPieceTransposed adds the products of a piece: all lanes of its slice belong to one row.
func (s *slicesForm[V]) addPieceTransposed(p *piece, alpha V, x []V, to func(lo, hi int) []V) {
	row := s.long.row[p.row]
	before, after := form.Factors(s.level, alpha, x[row:row+1])
	factors := s.sums[:s.narrow.Values.Lanes]
	for lane := range factors {
		factors[lane] = before * x[row]
	}
	y, lo := to(int(p.base), int(p.greatest)+1), int(p.base)
	if p.wide {
		AddSlicesTransposed(s.level, &s.wide, p.at, 1, after, factors, y, lo, s.wideSums)
	} else {
		AddSlicesTransposed(s.level, &s.narrow, p.at, 1, after, factors, y, 0, s.wideSums)
	}
}
