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

// AsksAhead reports whether slices, or those of near-far, prefetch their values and columns.
func AsksAhead[V sparse.Value](f Form[V]) bool {
	switch f := f.(type) {
	case *slicesForm[V]:
		return !f.narrow.Near && !f.wide.Near
	case *nearFarForm[V]:
		return !slices.ContainsFunc(f.blocks, func(b nearFarBlock[V]) bool { return !AsksAhead[V](b.slices) })
	}
	panic("neither slices nor near-far")
}

// Orders returns the two orders of the rows of slices.
func Orders[V sparse.Value](f Form[V]) [2][]uint16 {
	s := f.(*slicesForm[V])
	return [2][]uint16{s.order, s.rowOf}
}

// RegularColumns returns the number of consecutive columns and of pairs of columns of slices.
func RegularColumns[V sparse.Value](f Form[V]) (consecutive, pairs int) {
	s := f.(*slicesForm[V])
	for n := range slices.Chunk(slices.Concat(s.narrow.Regular, s.wide.Regular), 2) {
		consecutive, pairs = consecutive+int(n[0]), pairs+int(n[1])
	}
	return consecutive, pairs
}

// WithGroups calls f while transposed products of tiles have small groups.
func WithGroups(f func()) {
	defer func(bytes int64) { groupCache = bytes }(groupCache)
	groupCache = 0
	f()
}

// WithStrips calls f while strips of stencils read at most that many bytes of x.
func WithStrips(bytes int, f func()) {
	defer func(old int) { stripBytes = old }(stripBytes)
	stripBytes = bytes
	f()
}

// WithLoneCache calls f while near-far fits its blocks to a second-level cache of that many bytes,
// or of an unknown size if negative.
func WithLoneCache(bytes int, f func()) {
	defer func(old int) { loneCache = old }(loneCache)
	loneCache = bytes
	f()
}

// FindStencil returns the number of planes of offsets, their distance, and the largest number of
// rows of a plane that a row reads.
func FindStencil(offsets []int64) (planes, apart, reach int) {
	s := findStencil(offsets)
	return s.planes, s.distance, s.reach
}

// IndexBytes returns the number of bytes of a column that a product reads.
func (m *Segmented) IndexBytes() int {
	if m.near != nil {
		return 2
	}
	return 4
}

// Segments returns the number of segments of a value, or 1 if values are plain or absent.
func (m *Segmented) Segments() int {
	if m.val == nil {
		return 1
	}
	return m.layout.Segments
}

// Bytes returns the memory of the arrays.
func (m *Segmented) Bytes() int64 { return m.bytes }

// NarrowBlocks returns the number of rows of each block of near-far with columns of 2 bytes.
func NarrowBlocks(f Form[float64]) (rows []int) {
	for _, b := range f.(*nearFarForm[float64]).blocks {
		if len(b.slices.wide.Wide) == 0 {
			rows = append(rows, b.slices.rows)
		}
	}
	return rows
}
