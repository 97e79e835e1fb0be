package form

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// binRuns is the first pass of bins: which element of x is copied to which place. The entries of a
// block of rows in a block of columns are a run.
type binRuns[V sparse.Value] struct {
	columnBlocks[V] // of which first is that of each block of columns, group by group
	level           simd.Level
	groups          []int // the first block of rows of each group, and how many blocks there are

	// runs is those of a group, then of a block of columns, then of a block of rows.
	runs    []simd.BinRun
	entries simd.Bins[V] // by columns in the order of runs, by rows in that of blocks

	// blocks is the place of the first entry of each block of rows, and the end; within
	// them are the runs by blocks of columns. A group has the same places in both orders.
	blocks []int64

	between []V // of a group: what the first pass writes for each entry
}

func newBinRuns[V sparse.Value](l simd.Level, cols, width int) binRuns[V] {
	return binRuns[V]{columnBlocks: newColumnBlocks[V](cols, width), level: l}
}

// groupColumns is how many entries a group has at least for each column, so that reading
// x for each of them is little beside the 28 bytes for each entry, and groupLeast how many
// in any case.
const groupColumns, groupLeast = 4, 1 << 20

// lay parts the blocks of rows, which are known, into groups of about so many entries, or 0, and
// gives each run its places. counts is the entries of the runs, of a block of rows, then of columns.
func (f *binRuns[V]) lay(m *Memory, group int, counts []uint32) error {
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
	// With two vectors a group is taken in two halves; see MultiplyMany.
	if err := cmp.Or(
		take(m, &f.between, most+2*largest),
		take(m, &f.first, int64((len(f.groups)-1)*f.across)+1),
		take(m, &f.entries.Columns, f.blocks[blocks]),
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

// memory is the bytes of all but the rows and the values of entries.
func (f *binRuns[V]) memory() int64 {
	return 8*int64(len(f.blocks)+len(f.first)+len(f.runs)+len(f.groups)) + mem.Size[V]()*int64(len(f.between)) + 2*int64(len(f.entries.Columns))
}

// copyGroup copies what the entries of group g take of x.
func (f *binRuns[V]) copyGroup(g int, x []V) {
	for c := range f.across {
		s := g*f.across + c
		f.entries.Copy(f.level, int(f.first[s]), f.strip(g, c), f.part(x, c), f.ahead(x, s+1), f.between)
	}
	simd.Fence(f.level)
}

// of is what was copied for block i of rows, of group g.
func (f *binRuns[V]) of(g, i int) []V {
	from := f.blocks[f.groups[g]]
	return f.between[f.blocks[i]-from : f.blocks[i+1]-from]
}

// strip is the runs of group g in block c of columns.
func (f *binRuns[V]) strip(g, c int) []simd.BinRun {
	first, n := f.groups[g], f.groups[g+1]-f.groups[g]
	return f.runs[first*f.across+c*n:][:n]
}

// collect adds up, block of columns by block of columns, what spread wrote for group g.
func (f *binRuns[V]) collect(g int, after V, to func(lo, hi int) []V) {
	last, y := -1, []V(nil) // the block whose turn it is, when the next one is known
	add := func(next []V) {
		if last >= 0 {
			f.entries.AddTransposed(f.level, int(f.first[g*f.across+last]), f.strip(g, last), after, f.between, y, next)
		}
	}
	for c := range f.across {
		s := g*f.across + c
		if f.first[s] == f.first[s+1] {
			continue
		}
		next := to(c<<f.shift, min((c+1)<<f.shift, f.cols))
		if f.worthAhead(s, len(next)) {
			add(next)
		} else {
			add(nil)
		}
		last, y = c, next
	}
	add(nil)
}

// inLines is the places that so many entries take.
func inLines[V sparse.Value](entries int64) int64 {
	line := int64(simd.BinLine[V]())
	return (entries + line - 1) / line * line
}
