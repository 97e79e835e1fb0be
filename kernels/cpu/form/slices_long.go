package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// piece is a slice of successive entries of one row.
type piece struct {
	row      int
	from, to int64 // entries, counted in Rows
	base     int32 // the least column, from which narrow indices count
	greatest int32 // the greatest one
	wide     bool
}

// group is the slice of a piece: its entries one after the other in every lane, the
// lanes at the front with one more than the others.
func (p *piece) group(lanes int) group {
	n := p.to - p.from
	g := group{1, int32(n / int64(lanes)), 0}
	if n%int64(lanes) != 0 {
		g.columns++
		g.masks = 1
	}
	return g
}

// The most entries of a piece, and the fewest that are worth one that is narrow.
const (
	longestPiece  = 1 << 15
	shortestPiece = 1 << 8
)

// cutLong cuts the long rows of the window that was planned last into pieces. Where
// sums have a fixed shape they stay whole.
func (b *sliceBuilder[V]) cutLong() {
	for r := range b.narrowRows.of {
		if !b.isLong(r) {
			continue
		}
		if b.r.Fixed {
			b.out.lone.row = append(b.out.lone.row, b.first+r)
			continue
		}
		k, end := b.at(b.first+r), b.at(b.first+r+1)
		for k < end {
			p := piece{row: b.first + r, from: k}
			lo, hi := b.r.Idx[k], b.r.Idx[k]
			most := min(end, k+longestPiece)
			for p.to = k + 1; p.to < most; p.to++ {
				a, c := min(lo, b.r.Idx[p.to]), max(hi, b.r.Idx[p.to])
				if c-a >= narrowSpan {
					break
				}
				lo, hi = a, c
			}
			if p.to < most && p.to-k < shortestPiece {
				p.to, p.wide = most, true
				lo, hi = simd.MinMax(b.level, b.r.Idx[k:most])
			}
			p.base, p.greatest = lo, hi
			b.out.long = append(b.out.long, p)
			k = p.to
		}
	}
}

// fillPiece stores a piece of a long row.
func (b *sliceBuilder[V]) fillPiece(p *piece) {
	to, at := &b.out.narrow, &b.narrowAt
	if p.wide {
		to, at = &b.out.wide, &b.wideAt
	}
	g := p.group(b.lanes)
	to.Widths[2*at.Slice], to.Widths[2*at.Slice+1] = uint32(g.columns-g.masks), uint32(g.masks)
	longer := int((p.to - p.from) % int64(b.lanes)) // lanes with one entry more
	if g.masks > 0 {
		to.Masks[at.Mask] = 1<<longer - 1
	}
	k := p.from
	for lane := range b.lanes {
		n := int64(g.columns - g.masks)
		if lane < longer {
			n++
		}
		b.put(to, at.Column*b.lanes+lane, p.base, b.r.Idx[k:k+n], b.r.Val[k:k+n])
		k += n
	}
	*at = g.after(*at)
}

// multiplyLong adds the long rows to y.
func (s *slicesForm[V]) multiplyLong(alpha V, x, y []V, narrow, wide simd.Position) {
	lanes := s.narrow.Values.Lanes
	for i := range s.long {
		p := &s.long[i]
		if p.wide {
			simd.MultiplySlices(s.level, &s.wide, wide, 1, x, s.sums)
			wide = p.group(lanes).after(wide)
		} else {
			simd.MultiplySlices(s.level, &s.narrow, narrow, 1, x[p.base:], s.sums)
			narrow = p.group(lanes).after(narrow)
		}
		var sum V
		for _, v := range s.sums[:lanes] {
			sum += v
		}
		y[p.row] += alpha * sum
	}
}

// addLongTransposed adds the products of the long rows: all lanes of a slice are one row.
func (s *slicesForm[V]) addLongTransposed(alpha V, x []V, to func(lo, hi int) []V, narrow, wide simd.Position) {
	lanes := s.narrow.Values.Lanes
	for i := range s.long {
		p := &s.long[i]
		before, after := simd.Factors(s.level, alpha, x[p.row:p.row+1])
		factors := s.sums[:lanes]
		for lane := range factors {
			factors[lane] = before * x[p.row]
		}
		y, lo := to(int(p.base), int(p.greatest)+1), int(p.base)
		if p.wide {
			simd.AddSlicesTransposed(s.level, &s.wide, wide, 1, after, factors, y, lo, s.more)
			wide = p.group(lanes).after(wide)
		} else {
			simd.AddSlicesTransposed(s.level, &s.narrow, narrow, 1, after, factors, y, 0, s.more)
			narrow = p.group(lanes).after(narrow)
		}
	}
}
