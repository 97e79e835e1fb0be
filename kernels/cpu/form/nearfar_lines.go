package form

import (
	"math"
	"slices"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// lineShift is log2 of the elements in a cache line.
func lineShift[V sparse.Value]() int {
	if mem.Size[V]() == 8 {
		return 3
	}
	return 4
}

// lineTable counts how many entries of a block read each cache line of x, and then has the number
// of each line that is near.
type lineTable[V sparse.Value] struct {
	of   []uint32 // of each line, base and its count, or less; or base, lone+1 and its number
	base uint32
	used uint32  // how far beyond base numbers may be
	lone uint32  // most entries of a line that is far
	near []int32 // the lines of more entries, rising
}

// lineTableBytes is the memory of a table for so many elements of x.
func lineTableBytes[V sparse.Value](cols int) int64 { return 4 * int64(cols>>lineShift[V]()+1) }

func newLineTable[V sparse.Value](cols int) *lineTable[V] {
	return &lineTable[V]{of: make([]uint32, cols>>lineShift[V]()+1)}
}

// count looks at the columns of a block, at most 2^31, and gives the number of entries of near lines.
func (t *lineTable[V]) count(idx []int32, lone int) (entries int64) {
	if uint64(t.base)+uint64(t.used)+uint64(lone+1+len(idx)) > math.MaxUint32 {
		clear(t.of)
		t.base, t.used = 0, 0
	}
	t.base += t.used
	t.lone, t.used = uint32(lone), uint32(lone+1+len(idx))
	t.near = t.near[:0]
	for _, c := range idx {
		line := c >> lineShift[V]()
		n := max(t.of[line], t.base) + 1
		t.of[line] = n
		if n == t.base+t.lone+1 {
			t.near = append(t.near, line)
		}
	}
	slices.Sort(t.near)
	for i, line := range t.near {
		n := &t.of[line]
		entries += int64(*n - t.base)
		*n = t.base + t.lone + 1 + uint32(i)
	}
	return entries
}

// places sets local to the places of the columns in a vector of near lines. Those of far entries
// get any: they are listed in far, which has room for one more than there are.
func (t *lineTable[V]) places(idx, local []int32, far []int32) []int32 {
	shift, mask, first := lineShift[V](), int32(simd.BinLine[V]()-1), t.base+t.lone+1
	local = local[:len(idx)]
	n := 0
	for k, c := range idx {
		number := t.of[c>>shift] - first
		local[k] = int32(number)<<shift | c&mask
		far[n] = int32(k)
		n += int(number >> 31) // numbers are less than 2^31, and lone counts negative
	}
	return far[:n]
}

// loneCache is the bytes of the second cache.
var loneCache = cpuid.CPU.Cache.L2

// loneWindow is the entries of a block, whose lines of x stay in the second cache.
func loneWindow[V sparse.Value]() int { return fit[V](loneCache, secondCache) }

// LoneShare is the share of entries that NewNearFar takes for far ones with its defaults, by
// 8 blocks with at most an eighth of all entries. It is 0 where x is near enough to the
// second cache to be read fast, or has more lines than there are entries, and for columns
// outside x.
func LoneShare[V sparse.Value](r Rows[V]) float64 {
	second := 2 * loneWindow[V]() // elements that fill it
	n := int64(loneWindow[V]())
	nnz := int64(len(r.Idx))
	if r.Cols <= nearSecond*second || nnz < 8*sampleWindows*n || nnz < int64(r.Cols>>lineShift[V]()) {
		return 0
	}
	t := newLineTable[V](r.Cols)
	near := int64(0)
	for w := range int64(sampleWindows) {
		idx := r.Idx[(nnz-n)*w/(sampleWindows-1):][:n]
		if checkColumns(idx, r.Cols) != nil {
			return 0
		}
		near += t.count(idx, defaultLone)
	}
	return 1 - float64(near)/float64(sampleWindows*n)
}
