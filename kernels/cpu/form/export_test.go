package form

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// WithStreams calls f while all forms that are built write y past the caches.
func WithStreams(f func()) {
	old := beyond
	beyond = func(int64) bool { return true }
	defer func() { beyond = old }()
	f()
}

// AsksAhead reports whether slices, or those of near-far, ask for their values and columns ahead.
func AsksAhead[V sparse.Value](f Form[V]) bool {
	switch f := f.(type) {
	case *slicesForm[V]:
		return !f.narrow.Near && !f.wide.Near
	case *nearFarForm[V]:
		return !slices.ContainsFunc(f.blocks, func(b nearFarBlock[V]) bool { return !AsksAhead[V](b.slices) })
	}
	panic("neither slices nor near-far")
}

// Orders is the two orders of the rows of slices.
func Orders[V sparse.Value](f Form[V]) [2][]uint16 {
	s := f.(*slicesForm[V])
	return [2][]uint16{s.order, s.rowOf}
}

// RegularColumns is how many columns of slices load successive elements of x at once, and how many pairs
// of columns do so lane by lane.
func RegularColumns[V sparse.Value](f Form[V]) (straight, pairs int) {
	s := f.(*slicesForm[V])
	for n := range slices.Chunk(slices.Concat(s.narrow.Regular, s.wide.Regular), 2) {
		straight, pairs = straight+int(n[0]), pairs+int(n[1])
	}
	return straight, pairs
}

// WithGroups calls f while transposed products of tiles take few of them at a time.
func WithGroups(f func()) {
	defer func(bytes int64) { groupCache = bytes }(groupCache)
	groupCache = 0
	f()
}

// WithStrips calls f while strips of stencils read no more than so many bytes of x.
func WithStrips(bytes int, f func()) {
	defer func(old int) { stripBytes = old }(stripBytes)
	stripBytes = bytes
	f()
}

// WithLoneCache calls f while blocks of near-far are for a second cache of so many bytes, unknown where negative.
func WithLoneCache(bytes int, f func()) {
	defer func(old int) { loneCache = old }(loneCache)
	loneCache = bytes
	f()
}

// FindStencil gives the planes of offsets, their distance, and how many rows of each a row reads
// at most.
func FindStencil(offsets []int64) (planes, apart, reach int) {
	s := findStencil(offsets)
	return s.planes, s.apart, s.reach
}

// IndexBytes is how many bytes a product reads of each column.
func (m *Segmented) IndexBytes() int {
	if m.near != nil {
		return 2
	}
	return 4
}

// Segments is how many segments a value has, 1 when they are plain or none.
func (m *Segmented) Segments() int {
	if m.val == nil {
		return 1
	}
	return m.layout.Segments
}

// Bytes is the memory that the arrays take.
func (m *Segmented) Bytes() int64 { return m.bytes }

// NarrowBlocks is the rows of those blocks of a form of NewNearFar whose columns take 2 bytes.
func NarrowBlocks(f Form[float64]) (rows []int) {
	for _, b := range f.(*nearFarForm[float64]).blocks {
		if len(b.slices.wide.Wide) == 0 {
			rows = append(rows, b.slices.rows)
		}
	}
	return rows
}
