package leveled

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// MostEntries is the number of entries of a piece of a long row.
	MostEntries = 1024
	// warp is the number of lanes of a warp, and ahead the number of entries that a
	// lane loads at once.
	warp, ahead = 32, 4
	// grain is the least number of places for a goroutine.
	grain = 1 << 12
)

// Triangle holds the arrays for the kernels.
type Triangle[V sparse.Value] struct {
	// Entry k of place p, Ptr[p] <= k < Ptr[p+1], has the value Val[k] and belongs to
	// the column at place Idx[k] < p. The entries of a place are sorted by Idx. Diag has
	// the diagonal, or is nil if all its elements are 1.
	Ptr  []int64
	Idx  []int32
	Val  []V
	Diag []V
	// Perm[p] is the row at place p, or -1-r for a piece of row r.
	Perm []int32
	// Task i holds the places Task[i] to Task[i+1]-1, which are 1 to 32.
	Task   []int32
	Levels int

	src []int64 // entry of the matrix of each value, none for the column of a piece
}

// none stands for an entry that the matrix lacks.
const none = -1

// New prepares a triangle. An error is one of op.Stop, a *sparse.InputError for a matrix
// with too many pieces of rows, or wraps kernels.ErrArgument for an entry on the diagonal
// or beyond it. Such an entry would make rows wait for each other.
func New[V sparse.Value](op *kernels.TrianglePacking[V]) (*Triangle[V], error) {
	o := order[V]{TrianglePacking: op, rows: op.Rows(), cut: map[int32][]entry{}}
	if err := o.findLevels(); err != nil {
		return nil, err
	}
	t := &Triangle[V]{Levels: int(o.levels)}
	place := o.sort(t)
	o.findTasks(t)
	if err := o.stop(); err != nil {
		return nil, err
	}
	o.fill(t, place)
	t.Update(op)
	return t, nil
}

// Update makes Val and Diag of a matrix with the same pattern, in new memory. It needs
// neither their earlier values nor Ptr, Idx and Task.
func (t *Triangle[V]) Update(op *kernels.TrianglePacking[V]) {
	t.Val = make([]V, len(t.src))
	if t.Diag = nil; op.Diag != nil {
		t.Diag = make([]V, len(t.Perm))
	}
	par.Range(int64(len(t.src)), grain, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			if s := t.src[k]; s == none {
				t.Val[k] = -1
			} else {
				t.Val[k] = op.Val[s]
			}
		}
	})
	for p := range t.Diag {
		if r := t.Perm[p]; r < 0 {
			t.Diag[p] = 1
		} else {
			t.Diag[p] = op.Diag[r]
		}
	}
}

// entry is an entry of a row that was cut. col is a row, or the number of a piece.
type entry struct {
	col int32
	src int64
}

// order is the state of New. Nodes are the rows, and behind them the pieces of rows.
type order[V sparse.Value] struct {
	*kernels.TrianglePacking[V]
	rows   int
	level  []int32           // of each node
	count  []int32           // entries of each node
	owner  []int32           // row of each piece
	cut    map[int32][]entry // entries of rows that were cut, and of pieces
	levels int32
}

// stop calls Stop.
func (o *order[V]) stop() error {
	if o.Stop == nil {
		return nil
	}
	return o.Stop()
}

// findLevels cuts long rows, and sets everything of o.
func (o *order[V]) findLevels() error {
	o.level, o.count = make([]int32, o.rows), make([]int32, o.rows)
	for i := range o.rows {
		r := int32(i)
		if o.Upper {
			r = int32(o.rows - 1 - i)
		}
		if i%(1<<14) == 0 {
			if err := o.stop(); err != nil {
				return err
			}
		}
		columns, level := o.Idx[o.Ptr[r]:o.Ptr[r+1]], int32(0)
		for _, c := range columns {
			if c == r || c < r == o.Upper || c < 0 || int(c) >= o.rows {
				return fmt.Errorf("%w: column %d in row %d of a triangle", kernels.ErrArgument, c, r)
			}
			level = max(level, o.level[c]+1)
		}
		n := len(columns)
		if n > 2*MostEntries {
			list, err := o.cutRow(r)
			if err != nil {
				return err
			}
			n, level = len(list), 0
			for _, e := range list {
				level = max(level, o.level[e.col]+1)
			}
		}
		o.level[r], o.count[r] = level, int32(n)
		o.levels = max(o.levels, level+1)
	}
	return nil
}

// cutRow cuts row r and returns the entries that it keeps.
func (o *order[V]) cutRow(r int32) ([]entry, error) {
	list := make([]entry, 0, o.Ptr[r+1]-o.Ptr[r])
	for k := o.Ptr[r]; k < o.Ptr[r+1]; k++ {
		list = append(list, entry{o.Idx[k], k})
	}
	for len(list) > 2*MostEntries {
		slices.SortStableFunc(list, func(a, b entry) int { return int(o.level[a.col]) - int(o.level[b.col]) })
		var joins []entry
		for len(list) > MostEntries {
			if len(o.level) == math.MaxInt32 {
				return nil, sparse.Inputf("matrix", "more than %d rows and pieces of long rows", math.MaxInt32)
			}
			id := int32(len(o.level))
			last := list[MostEntries-1]
			o.cut[id] = list[:MostEntries:MostEntries]
			o.level = append(o.level, o.level[last.col]+1)
			o.count = append(o.count, MostEntries)
			o.owner = append(o.owner, r)
			o.levels = max(o.levels, o.level[id]+1)
			joins = append(joins, entry{id, none})
			list = list[MostEntries:]
		}
		list = append(joins, list...)
	}
	o.cut[r] = list
	return list, nil
}

// lanes returns the logarithm of the lanes with which a row of n entries has all of them
// under way at once, at most that of a warp.
func lanes(n int32) (log int) {
	for log < 5 && ahead<<log < n {
		log++
	}
	return log
}

// sort puts the nodes in order: by level, then the long ones first, then by number. It
// sets t.Perm and Ptr, and returns the place of each node.
func (o *order[V]) sort(t *Triangle[V]) []int32 {
	const classes = 6
	key := func(node int) int { return classes*int(o.level[node]) + classes - 1 - lanes(o.count[node]) }
	next := make([]int32, classes*int(o.levels)+1) // place of the next node with each key
	for node := range o.level {
		next[key(node)+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	n := len(o.level)
	place := make([]int32, n)
	t.Perm, t.Ptr = make([]int32, n), make([]int64, n+1)
	for node := range o.level {
		p := next[key(node)]
		next[key(node)]++
		place[node] = p
		t.Perm[p], t.Ptr[p+1] = int32(node), int64(o.count[node])
		if node >= o.rows {
			t.Perm[p] = -1 - o.owner[node-o.rows]
		}
	}
	for p := range n {
		t.Ptr[p+1] += t.Ptr[p]
	}
	return place
}

// findTasks sets t.Task: runs of places, as long as each row gets the lanes that it needs.
func (o *order[V]) findTasks(t *Triangle[V]) {
	t.Task = append(t.Task, 0)
	rows, need := 0, 0
	for p := range t.Perm {
		log := lanes(int32(t.Ptr[p+1] - t.Ptr[p]))
		if rows > 0 && (rows+1)<<max(need, log) > warp {
			t.Task = append(t.Task, int32(p))
			rows, need = 0, 0
		}
		rows, need = rows+1, max(need, log)
	}
	if rows > 0 {
		t.Task = append(t.Task, int32(len(t.Perm)))
	}
}

// fill sets t.Idx and src.
func (o *order[V]) fill(t *Triangle[V], place []int32) {
	n := len(place)
	nnz := t.Ptr[n]
	t.Idx, t.src = make([]int32, nnz), make([]int64, nnz)
	par.Range(int64(n), grain, func(lo, hi int64) {
		var row []entry // col is a place
		for node := lo; node < hi; node++ {
			row = row[:0]
			if list, ok := o.cut[int32(node)]; ok {
				for _, e := range list {
					row = append(row, entry{place[e.col], e.src})
				}
			} else {
				for k := o.Ptr[node]; k < o.Ptr[node+1]; k++ {
					row = append(row, entry{place[o.Idx[k]], k})
				}
			}
			slices.SortFunc(row, func(a, b entry) int { return cmp.Or(cmp.Compare(a.col, b.col), cmp.Compare(a.src, b.src)) })
			at := t.Ptr[place[node]]
			for i, e := range row {
				t.Idx[at+int64(i)], t.src[at+int64(i)] = e.col, e.src
			}
		}
	})
}
