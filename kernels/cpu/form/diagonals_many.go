package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

func (d *diagonalForm[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V]) {
	var values simd.Expansion[V]
	x = x.First(d.cols)
	simd.MultiplyDiagonalsMany(d.level, &d.slices, d.strips(x), alpha, beta, x, y.First(d.rows), &values)
}

// RowsFrom is 1: see Suits.
func (d *diagonalForm[V]) RowsFrom() int { return 1 }

// cachedRows is up to how many bytes the rows in CSR, x and y count as cached together: what the last cache of the Zen 5
// has on which that was measured.
const cachedRows = 32 << 20

// Suits implements Suited: rows have more bytes, but in the caches they take less time than diagonals of which a sixth
// of the columns is masked, unless the vectors are so few that a register has several rows of x.
func (d *diagonalForm[V]) Suits(x, y simd.MultiVector[V]) bool {
	s := &d.slices
	if 6*len(s.Masks) < s.Columns || simd.FewDiagonals(d.level, s, x, y) {
		return true
	}
	size, entries := mem.Size[V](), int64(s.Columns*s.Values.Lanes)-d.padding
	return entries*(size+4)+8*int64(d.rows)+size*int64(len(x.Val)+len(y.Val)) > cachedRows
}

// stripBytes is how much of x the rows of a strip read before the next plane of the strip finds
// it again: what stays in the second cache, or for some workers together in the last. It is
// replaced in tests.
var stripBytes = 2 << 20

// strips is an order of rows in which what they read of x stays in the caches. It is that of
// the matrix where no plane is more than twice as large as a strip, and where the matrix is no
// stencil of planes.
func (d *diagonalForm[V]) strips(x simd.MultiVector[V]) simd.Strips {
	all := simd.Strips{Plane: d.rows, Strip: d.rows}
	if len(x.Val) <= 2*stripBytes/int(mem.Size[V]()) {
		return all
	}
	s := findStencil(widestOffsets(&d.slices))
	// How many rows of each plane may be read.
	most := stripBytes / int(mem.Size[V]()) / max(x.Stride, 1) / max(s.planes, 1)
	if s.apart == 0 || s.apart >= d.rows || s.apart <= 2*most {
		return all
	}
	// Neighbouring strips both read as many rows of a plane as a row reaches over.
	strip := max(most-s.reach, 4*s.reach, 1)
	if strip >= s.apart {
		return all
	}
	n := (s.apart + strip - 1) / strip
	return simd.Strips{Plane: s.apart, Strip: (s.apart + n - 1) / n}
}

// widestOffsets is the offsets of the widest run.
func widestOffsets[V sparse.Value](d *simd.Diagonals[V]) (offsets []int64) {
	for _, r := range d.Runs {
		if r.Width > len(offsets) {
			offsets = d.Offsets[r.Pattern : r.Pattern+r.Width]
		}
	}
	return offsets
}

// stencil is what a row of a stencil reads of x: of planes that are apart rows from each other,
// reach rows each, or fewer.
type stencil struct{ planes, apart, reach int }

// findStencil finds planes in ascending distances from the main diagonal: groups with gaps
// between them, whose middles are equally far apart. Without such apart is 0.
func findStencil(offsets []int64) (s stencil) {
	gap := int64(0) // the largest
	for j := 1; j < len(offsets); j++ {
		gap = max(gap, offsets[j]-offsets[j-1])
	}
	first, middle := 0, int64(0) // of a group; the middle is doubled
	for j := 1; j <= len(offsets); j++ {
		if j < len(offsets) && offsets[j]-offsets[j-1] <= gap/2 {
			continue
		}
		from, last := offsets[first], offsets[j-1]
		switch apart := from + last - middle; {
		case s.planes == 1:
			s.apart = int(apart / 2)
		case s.planes > 1 && int64(s.apart) != apart/2:
			return stencil{}
		}
		s.planes, s.reach = s.planes+1, max(s.reach, int(last-from)+1)
		first, middle = j, from+last
	}
	return s
}
