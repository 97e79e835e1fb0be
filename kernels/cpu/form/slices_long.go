package form

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// longRows is the rows of slices that are cut into pieces.
type longRows[V sparse.Value] struct {
	row    []int
	sums   []V // of the rows, in the product under way
	pieces []piece
}

// piece is a slice of successive entries of one row.
type piece struct {
	row      int   // among the long ones
	after    int   // the window that it follows
	from, to int64 // entries, counted in Rows
	base     int32 // the column from which narrow indices count
	greatest int32 // the greatest one
	wide     bool
	at       simd.Position // of its slice, among the wide ones or the narrow ones
}

// group is the slice of a piece: its entries side by side.
func (p *piece) group(lanes int) group {
	n := p.to - p.from
	g := group{1, int32(n / int64(lanes)), 0}
	if n%int64(lanes) != 0 {
		g.columns++
		g.masks = 1
	}
	return g
}

// The most entries of a piece, whose part of x the second cache should hold, and the fewest
// that are worth one that is narrow.
const (
	longestPiece  = 1 << 13
	shortestPiece = 1 << 8
)

// cutLong cuts the long rows of the window that was planned last into pieces.
func (b *sliceBuilder[V]) cutLong() {
	for r, left := 0, b.long; left > 0; r++ {
		if !b.isLong(r) {
			continue
		}
		left--
		long := &b.out.long
		long.row = append(long.row, b.first+r)
		k, end := b.r.at(b.first+r), b.r.at(b.first+r+1)
		for k < end {
			p := piece{row: len(long.row) - 1, from: k}
			most := min(end, k+longestPiece)
			lo, hi := simd.MinMax(b.level, b.r.Idx[k:most])
			if p.to = most; hi-lo >= narrowSpan {
				p.to, lo, hi = b.reach(k, most)
			}
			if p.to < most && p.to-k < shortestPiece {
				p.to, p.wide = most, true
				lo, hi = simd.MinMax(b.level, b.r.Idx[k:most])
			}
			p.base, p.greatest = lo, hi
			long.pieces = append(long.pieces, p)
			k = p.to
		}
	}
}

// reach is up to where narrow columns reach the entries from k on, until before most, and the least and the
// greatest column of these.
func (b *sliceBuilder[V]) reach(k, most int64) (to int64, lo, hi int32) {
	lo, hi = b.r.Idx[k], b.r.Idx[k]
	for to = k + 1; to < most; to++ {
		a, c := min(lo, b.r.Idx[to]), max(hi, b.r.Idx[to])
		if c-a >= narrowSpan {
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
	to.Widths[2*at.Slice], to.Widths[2*at.Slice+1] = uint32(g.columns-g.masks), uint32(g.masks)
	if g.masks > 0 {
		to.Masks[at.Mask] = 1<<((p.to-p.from)%int64(b.lanes)) - 1
	}
	all := entries[V]{b.r.Idx[p.from:p.to], b.r.Val[p.from:p.to]}
	if to.Regular != nil {
		all = b.turned.regularizePiece(all, b.lanes, int(g.columns-g.masks), to.Regular[2*at.Slice:][:2])
	}
	b.put(to, at.Column*b.lanes, 1, p.base, all.idx, all.val)
	*at = g.after(*at)
}

// place puts pieces behind the first window by which the windows have read as far as they do,
// where reached says how far each has: x is then near, and pieces of several rows that read the
// same of it follow each other.
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
	for i := 1; i < len(l.pieces); i++ { // one call multiplies those that count from the same column
		p, next := &l.pieces[i-1], &l.pieces[i]
		if p.after == next.after && !p.wide && !next.wide && next.greatest-p.base < narrowSpan {
			next.base = p.base
		}
	}
}

// pass brings the positions behind a piece that lies at one of them.
func (p *piece) pass(lanes int, narrow, wide *simd.Position) {
	if p.wide {
		*wide = p.group(lanes).after(*wide)
	} else {
		*narrow = p.group(lanes).after(*narrow)
	}
}

// sumPieces adds the first of pieces, as many as one call multiplies, to the sums of their rows. It gives their number.
func (s *slicesForm[V]) sumPieces(pieces []piece, x []V) int {
	lanes, first, n := s.narrow.Values.Lanes, &pieces[0], 1
	for n < min(len(pieces), len(s.sums)/lanes) && pieces[n].follows(first) {
		n++
	}
	if first.wide {
		simd.MultiplySlices(s.level, &s.wide, first.at, n, x, nil, s.sums)
	} else {
		simd.MultiplySlices(s.level, &s.narrow, first.at, n, x[first.base:], nil, s.sums)
	}
	for i := range pieces[:n] {
		var a, b, c, d V // so that additions wait for fewer others
		for v := s.sums[i*lanes : (i+1)*lanes]; len(v) > 0; v = v[4:] {
			a, b, c, d = a+v[0], b+v[1], c+v[2], d+v[3]
		}
		s.long.sums[pieces[i].row] += (a + b) + (c + d)
	}
	return n
}

// follows reports whether one call can multiply the piece with another one, whose slice lies before its own.
func (p *piece) follows(first *piece) bool {
	return p.after == first.after && p.wide == first.wide && (p.wide || p.base == first.base)
}

// finish adds the sums to y, and clears them.
func (l *longRows[V]) finish(alpha V, y []V) {
	for i, r := range l.row {
		y[r] = simd.RowValue(alpha, 1, l.sums[i], y[r])
	}
	clear(l.sums)
}

// addPieceTransposed adds the products of a piece: all lanes of its slice are one row.
func (s *slicesForm[V]) addPieceTransposed(p *piece, alpha V, x []V, to func(lo, hi int) []V) {
	row := s.long.row[p.row]
	before, after := simd.Factors(s.level, alpha, x[row:row+1])
	factors := s.sums[:s.narrow.Values.Lanes]
	for lane := range factors {
		factors[lane] = before * x[row]
	}
	y, lo := to(int(p.base), int(p.greatest)+1), int(p.base)
	if p.wide {
		simd.AddSlicesTransposed(s.level, &s.wide, p.at, 1, after, factors, y, lo, s.more)
	} else {
		simd.AddSlicesTransposed(s.level, &s.narrow, p.at, 1, after, factors, y, 0, s.more)
	}
}
