package diagonals

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

func (d *diagonalForm[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	var values form.Expansion[V]
	x = x.First(d.cols)
	MultiplyDiagonalsMany(d.level, &d.slices, d.strips(x), alpha, beta, x, y.First(d.rows), &values)
}

// RowsFrom is 1: Suits says when diagonals are faster.
func (d *diagonalForm[V]) RowsFrom() int { return 1 }

// cachedRows is the largest number of bytes of rows in CSR, x and y that count as cached: the size
// of the last-level cache of the Zen 5 on which Suits was measured.
const cachedRows = 32 << 20

// Suits implements Suited. Rows in CSR have more bytes. In the caches they are nevertheless faster
// than diagonals if at least a sixth of the columns are masked, unless the vectors are so few that
// a register holds several rows of x.
func (d *diagonalForm[V]) Suits(x, y form.MultiVector[V]) bool {
	s := &d.slices
	if 6*len(s.Masks) < s.Columns || FewDiagonals(d.level, s, x, y) {
		return true
	}
	size, entries := mem.Size[V](), int64(s.Columns*s.Values.Lanes)-d.EmptySlots
	return entries*(size+4)+8*int64(d.rows)+size*int64(len(x.Val)+len(y.Val)) > cachedRows
}

// StripBytes is the number of bytes of x that a strip reads before its next plane reads them again.
// They stay in the second-level cache, or in the shared last-level cache. Tests replace it.
var StripBytes = 2 << 20

// strips returns an order of the rows in which what they read of x stays in the caches. It is the
// order of the matrix if the matrix is not a stencil of planes or if a plane is at most twice as
// large as a strip.
func (d *diagonalForm[V]) strips(x form.MultiVector[V]) Strips {
	all := Strips{Plane: d.rows, Strip: d.rows}
	if len(x.Val) <= 2*StripBytes/int(mem.Size[V]()) {
		return all
	}
	s := findStencil(widestOffsets(&d.slices))
	// the number of rows of each plane that a strip may read
	most := StripBytes / int(mem.Size[V]()) / max(x.Stride, 1) / max(s.planes, 1)
	if s.distance == 0 || s.distance >= d.rows || s.distance <= 2*most {
		return all
	}
	// Neighbouring strips both read s.reach rows of each plane.
	strip := max(most-s.reach, 4*s.reach, 1)
	if strip >= s.distance {
		return all
	}
	n := (s.distance + strip - 1) / strip
	return Strips{Plane: s.distance, Strip: (s.distance + n - 1) / n}
}

// widestOffsets returns the offsets of the widest run.
func widestOffsets[V sparse.Value](d *Diagonals[V]) (offsets []int64) {
	for _, r := range d.Runs {
		if r.Width > len(offsets) {
			offsets = d.Offsets[r.Pattern : r.Pattern+r.Width]
		}
	}
	return offsets
}

// stencil describes what a row reads of x: at most reach rows of each of planes planes. The middles
// of successive planes are distance rows from each other.
type stencil struct{ planes, distance, reach int }

// findStencil divides ascending offsets into planes: groups that are separated by gaps and have
// equally distant middles. distance is 0 if there are none.
func findStencil(offsets []int64) (s stencil) {
	gap := int64(0) // the largest gap
	for j := 1; j < len(offsets); j++ {
		gap = max(gap, offsets[j]-offsets[j-1])
	}
	first, middle := 0, int64(0) // first offset of a group; twice the middle of the group before
	for j := 1; j <= len(offsets); j++ {
		if j < len(offsets) && offsets[j]-offsets[j-1] <= gap/2 {
			continue
		}
		from, last := offsets[first], offsets[j-1]
		switch apart := from + last - middle; {
		case s.planes == 1:
			s.distance = int(apart / 2)
		case s.planes > 1 && int64(s.distance) != apart/2:
			return stencil{}
		}
		s.planes, s.reach = s.planes+1, max(s.reach, int(last-from)+1)
		first, middle = j, from+last
	}
	return s
}
