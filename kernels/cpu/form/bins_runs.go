package form

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// binRuns is the first pass of bins: for each entry, the element of x and the slot to which it is
// copied. The entries of one block of rows in one block of columns are a run.
type binRuns[V sparse.Value] struct {
	columnBlocks[V] // first has an element for each block of columns, group by group
	level           simd.Level
	groups          []int // the first block of rows of each group, then the number of blocks

	// runs are ordered by group, then by block of columns, then by block of rows.
	runs    []simd.BinRun
	entries simd.Bins[V] // Columns in the order of the first pass, Rows in that of the second

	// blocks has the first slot of each block of rows, then the number of slots. The slots of a
	// block are ordered by block of columns. A group has the same range of slots in both orders.
	blocks []int64

	buffer []V // the buffer of a group: the first pass writes one element per slot
}

func newBinRuns[V sparse.Value](l simd.Level, cols, width int) binRuns[V] {
	return binRuns[V]{columnBlocks: newColumnBlocks[V](cols, width), level: l}
}

// groupColumns is the least number of entries of a group, per column of the matrix: reading x once
// per group is then cheap compared with the 28 bytes that an entry moves. groupLeast is the least
// number of entries of a group in any case.
const groupColumns, groupLeast = 4, 1 << 20

// layOutRuns divides the blocks of rows into groups of about group entries (0: a default) and
// assigns slots to the runs. f.blocks is set. counts has the entries of each run, ordered by block
// of rows, then by block of columns.
func (f *binRuns[V]) layOutRuns(m *Memory, group int, counts []uint32) error {
	blocks := len(f.blocks) - 1
	if group == 0 {
		group = max(groupColumns*f.cols, groupLeast)
	}
	f.groups = []int{0}
	var most, largest int64
	for block := range blocks {
		largest = max(largest, f.blocks[block+1]-f.blocks[block])
		if first := f.blocks[f.groups[len(f.groups)-1]]; f.blocks[block+1]-first >= int64(group) || block+1 == blocks {
			most = max(most, f.blocks[block+1]-first)
			f.groups = append(f.groups, block+1)
		}
	}
	// multiplyPairs needs two slots for each entry: it multiplies a group in two halves.
	if err := cmp.Or(
		alloc(m, &f.buffer, most+2*largest),
		alloc(m, &f.first, int64((len(f.groups)-1)*f.across)+1),
		alloc(m, &f.entries.Columns, f.blocks[blocks]),
	); err != nil {
		return err
	}
	f.runs = make([]simd.BinRun, len(counts))
	line := int64(simd.BinLine[V]())
	var k int64
	for g := range len(f.groups) - 1 {
		first := f.groups[g]
		to := make([]int64, f.groups[g+1]-first)
		for i := range to {
			to[i] = f.blocks[first+i] - f.blocks[first]
		}
		for c := range f.across {
			strip := f.strip(g, c)
			for i := range strip {
				n := counts[(first+i)*f.across+c]
				strip[i] = simd.BinRun{To: uint32(to[i] / line), Entries: n}
				to[i] += inLines[V](int64(n))
				k += inLines[V](int64(n))
			}
			f.first[g*f.across+c+1] = k
		}
	}
	return nil
}

// memory returns the bytes of everything except Rows and Values of the entries.
func (f *binRuns[V]) memory() int64 {
	return 8*int64(len(f.blocks)+len(f.first)+len(f.runs)+len(f.groups)) + mem.Size[V]()*int64(len(f.buffer)) + 2*int64(len(f.entries.Columns))
}

// copyGroup runs the first pass for group g.
func (f *binRuns[V]) copyGroup(g int, x []V) {
	for c := range f.across {
		s := g*f.across + c
		f.entries.Copy(f.level, int(f.first[s]), f.strip(g, c), f.elements(x, c), f.toPrefetch(x, s+1), f.buffer)
	}
	simd.Fence(f.level)
}

// copied returns what the first pass copied for block i of rows, which is in group g.
func (f *binRuns[V]) copied(g, i int) []V {
	from := f.blocks[f.groups[g]]
	return f.buffer[f.blocks[i]-from : f.blocks[i+1]-from]
}

// strip returns the runs of group g in block c of columns.
func (f *binRuns[V]) strip(g, c int) []simd.BinRun {
	first, n := f.groups[g], f.groups[g+1]-f.groups[g]
	return f.runs[first*f.across+c*n:][:n]
}

// addBuffer adds what writeProducts wrote for group g to y, block of columns by block of columns.
func (f *binRuns[V]) addBuffer(g int, after V, to func(lo, hi int) []V) {
	last, y := -1, []V(nil) // the previous non-empty block: it is added once the next one is known
	add := func(next []V) {
		if last >= 0 {
			f.entries.AddTransposed(f.level, int(f.first[g*f.across+last]), f.strip(g, last), after, f.buffer, y, next)
		}
	}
	for c := range f.across {
		s := g*f.across + c
		if f.first[s] == f.first[s+1] {
			continue
		}
		next := to(c<<f.shift, min((c+1)<<f.shift, f.cols))
		if f.worthPrefetching(s, len(next)) {
			add(next)
		} else {
			add(nil)
		}
		last, y = c, next
	}
	add(nil)
}

// inLines returns the number of slots that a run occupies.
func inLines[V sparse.Value](entries int64) int64 {
	line := int64(simd.BinLine[V]())
	return (entries + line - 1) / line * line
}
