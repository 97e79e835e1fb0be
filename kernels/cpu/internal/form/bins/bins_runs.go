package bins

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// BinRuns is the first pass of bins: for each entry, the element of x and the slot to which it is
// copied. The entries of one block of rows in one block of columns are a run.
type BinRuns[V sparse.Value] struct {
	form.ColumnBlocks[V] // first has an element for each block of columns, group by group
	Level                simd.Level
	Groups               []int // the first block of rows of each group, then the number of blocks

	// runs are ordered by group, then by block of columns, then by block of rows.
	runs    []BinRun
	Entries Bins[V] // Columns in the order of the first pass, Rows in that of the second

	// Blocks has the first slot of each block of rows, then the number of slots. The slots of a
	// block are ordered by block of columns. A group has the same range of slots in both orders.
	Blocks []int64

	buffer []V // the buffer of a group: the first pass writes one element per slot
}

func NewBinRuns[V sparse.Value](l simd.Level, cols, width int) BinRuns[V] {
	return BinRuns[V]{ColumnBlocks: form.NewColumnBlocks[V](cols, width), Level: l}
}

// groupColumns is the least number of entries of a group, per column of the matrix: reading x once
// per group is then cheap compared with the 28 bytes that an entry moves. groupLeast is the least
// number of entries of a group in any case.
const groupColumns, groupLeast = 4, 1 << 20

// LayOutRuns divides the blocks of rows into groups of about group entries (0: a default) and
// assigns slots to the runs. f.blocks is set. counts has the entries of each run, ordered by block
// of rows, then by block of columns.
func (f *BinRuns[V]) LayOutRuns(m *form.Memory, group int, counts []uint32) error {
	blocks := len(f.Blocks) - 1
	if group == 0 {
		group = max(groupColumns*f.Cols, groupLeast)
	}
	f.Groups = []int{0}
	var most, largest int64
	for block := range blocks {
		largest = max(largest, f.Blocks[block+1]-f.Blocks[block])
		if first := f.Blocks[f.Groups[len(f.Groups)-1]]; f.Blocks[block+1]-first >= int64(group) || block+1 == blocks {
			most = max(most, f.Blocks[block+1]-first)
			f.Groups = append(f.Groups, block+1)
		}
	}
	// multiplyPairs needs two slots for each entry: it multiplies a group in two halves.
	if err := cmp.Or(
		form.Alloc(m, &f.buffer, most+2*largest),
		form.Alloc(m, &f.First, int64((len(f.Groups)-1)*f.Across)+1),
		form.Alloc(m, &f.Entries.Columns, f.Blocks[blocks]),
	); err != nil {
		return err
	}
	f.runs = make([]BinRun, len(counts))
	line := int64(form.BinLine[V]())
	var k int64
	for g := range len(f.Groups) - 1 {
		first := f.Groups[g]
		to := make([]int64, f.Groups[g+1]-first)
		for i := range to {
			to[i] = f.Blocks[first+i] - f.Blocks[first]
		}
		for c := range f.Across {
			strip := f.Strip(g, c)
			for i := range strip {
				n := counts[(first+i)*f.Across+c]
				strip[i] = BinRun{To: uint32(to[i] / line), Entries: n}
				to[i] += InLines[V](int64(n))
				k += InLines[V](int64(n))
			}
			f.First[g*f.Across+c+1] = k
		}
	}
	return nil
}

// Memory returns the bytes of everything except Rows and Values of the entries.
func (f *BinRuns[V]) Memory() int64 {
	return 8*int64(len(f.Blocks)+len(f.First)+len(f.runs)+len(f.Groups)) + mem.Size[V]()*int64(len(f.buffer)) + 2*int64(len(f.Entries.Columns))
}

// CopyGroup runs the first pass for group g.
func (f *BinRuns[V]) CopyGroup(g int, x []V) {
	for c := range f.Across {
		s := g*f.Across + c
		f.Entries.Copy(f.Level, int(f.First[s]), f.Strip(g, c), f.Elements(x, c), f.ToPrefetch(x, s+1), f.buffer)
	}
	form.Fence(f.Level)
}

// Copied returns what the first pass copied for block i of rows, which is in group g.
func (f *BinRuns[V]) Copied(g, i int) []V {
	from := f.Blocks[f.Groups[g]]
	return f.buffer[f.Blocks[i]-from : f.Blocks[i+1]-from]
}

// Strip returns the runs of group g in block c of columns.
func (f *BinRuns[V]) Strip(g, c int) []BinRun {
	first, n := f.Groups[g], f.Groups[g+1]-f.Groups[g]
	return f.runs[first*f.Across+c*n:][:n]
}

// AddBuffer adds what writeProducts wrote for group g to y, block of columns by block of columns.
func (f *BinRuns[V]) AddBuffer(g int, after V, to func(lo, hi int) []V) {
	last, y := -1, []V(nil) // the previous non-empty block: it is added once the next one is known
	add := func(next []V) {
		if last >= 0 {
			f.Entries.AddTransposed(f.Level, int(f.First[g*f.Across+last]), f.Strip(g, last), after, f.buffer, y, next)
		}
	}
	for c := range f.Across {
		s := g*f.Across + c
		if f.First[s] == f.First[s+1] {
			continue
		}
		next := to(c<<f.Shift, min((c+1)<<f.Shift, f.Cols))
		if f.WorthPrefetching(s, len(next)) {
			add(next)
		} else {
			add(nil)
		}
		last, y = c, next
	}
	add(nil)
}

// InLines returns the number of slots that a run occupies.
func InLines[V sparse.Value](entries int64) int64 {
	line := int64(form.BinLine[V]())
	return (entries + line - 1) / line * line
}
