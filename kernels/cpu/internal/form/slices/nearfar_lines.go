package slices

import (
	"math"
	"slices"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// lineTable counts the entries of a block that read each cache line of x, then numbers the near
// lines.
type lineTable[V sparse.Value] struct {
	lines []uint32 // per line: base + its count (less than base: 0), or base+lone+1 + its number if near
	base  uint32
	used  uint32  // entries of the table are at most base+used
	lone  uint32  // the largest count of a far line
	near  []int32 // the near lines, ascending
}

// lineTableBytes returns the memory of a table for cols columns.
func lineTableBytes[V sparse.Value](cols int) int64 { return 4 * int64(cols>>form.LineShift[V]()+1) }

func newLineTable[V sparse.Value](cols int) *lineTable[V] {
	return &lineTable[V]{lines: make([]uint32, cols>>form.LineShift[V]()+1)}
}

// count sets near for the columns of a block, at most 2^31, and returns the number of near entries.
func (t *lineTable[V]) count(idx []int32, lone int) (entries int64) {
	if uint64(t.base)+uint64(t.used)+uint64(lone+1+len(idx)) > math.MaxUint32 {
		clear(t.lines)
		t.base, t.used = 0, 0
	}
	t.base += t.used
	t.lone, t.used = uint32(lone), uint32(lone+1+len(idx))
	t.near = t.near[:0]
	for _, c := range idx {
		line := c >> form.LineShift[V]()
		n := max(t.lines[line], t.base) + 1
		t.lines[line] = n
		if n == t.base+t.lone+1 {
			t.near = append(t.near, line)
		}
	}
	slices.Sort(t.near)
	for i, line := range t.near {
		n := &t.lines[line]
		entries += int64(*n - t.base)
		*n = t.base + t.lone + 1 + uint32(i)
	}
	return entries
}

// places sets local to the positions of the near entries in the local vector. It returns the
// indices of the far entries, for which local is undefined. far has room for one element more than
// these.
func (t *lineTable[V]) places(idx, local []int32, far []int32) []int32 {
	shift, mask, first := form.LineShift[V](), int32(form.BinLine[V]()-1), t.base+t.lone+1
	local = local[:len(idx)]
	n := 0
	for k, c := range idx {
		number := t.lines[c>>shift] - first
		local[k] = int32(number)<<shift | c&mask
		far[n] = int32(k)
		n += int(number >> 31) // numbers are less than 2^31, and counts up to lone give negative numbers
	}
	return far[:n]
}

// loneCache is the bytes of the second-level cache. Tests replace it.
var loneCache = cpuid.CPU.Cache.L2

// loneWindow returns the default of NearFarOptions.Window.
func loneWindow[V sparse.Value]() int { return form.HalfCache[V](loneCache, form.SecondCache) }

// XIsNear reports whether x is small enough, relative to the second-level cache, that single elements of it are read fast.
func XIsNear[V sparse.Value](cols int) bool { return cols <= form.NearSecond*2*loneWindow[V]() }

// FarFraction returns the fraction of entries that are far with the defaults of NewNearFar, measured on up to 8 blocks with at most
// an eighth of all entries. ok is false if x fits the second-level cache or has more cache lines than there are entries, if an
// eighth of the entries is less than a block, or if a column is outside x.
func FarFraction[V sparse.Value](r form.Rows[V]) (fraction float64, ok bool) {
	second := 2 * loneWindow[V]() // elements that fill the second-level cache
	n := int64(loneWindow[V]())
	nnz := int64(len(r.Idx))
	windows := min(nnz/(8*n), form.SampleWindows)
	if r.Cols <= second || windows == 0 || nnz < int64(r.Cols>>form.LineShift[V]()) {
		return 0, false
	}
	t := newLineTable[V](r.Cols)
	near := int64(0)
	for w := range windows {
		idx := r.Idx[(nnz-n)*w/max(windows-1, 1):][:n]
		if form.CheckColumns(idx, r.Cols) != nil {
			return 0, false
		}
		near += t.count(idx, defaultLone)
	}
	return 1 - float64(near)/float64(windows*n), true
}
