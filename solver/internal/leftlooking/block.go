package leftlooking

import (
	"context"
	"math"
)

// eliminator factors one block after the other. Rows and columns are numbered from the
// first of the block.
type eliminator struct {
	f    *LU
	v    *values
	s    *store
	tol  float64
	base int // first position of the block

	x     []float64 // the column, zero between columns
	below []float64 // work of LU.forward
	pinv  []int32   // column in which a row is the pivot, or -1
	prow  []int32   // the row that is the pivot of a column
	diag  []int32   // row of the preferred pivot of a column
	owner []int32   // column of which a row is the preferred pivot
	found []int32   // last column in which a row without a pivot was found

	// Run r has the columns runFirst[r] to runLast[r]. Its list is the rows of its last
	// column. The search looks only at the first pruned[r] of them, if pruned[r] >= 0:
	// those that were pivots when it was pruned.
	runs              int
	run               []int32 // run of each column
	runFirst, runLast []int32
	pruned            []int32
	visited           []int32 // last column that visited a run
	from              []int32 // first column of a run that the column depends on
	at                []int32 // place in the list at which the search goes on
	stack             []int32
	topo              []int32 // runs that were visited, in postorder
	rows              []int32 // rows without a pivot that were found
}

// workPerCheck is the number of multiply-add operations between two looks at the context.
const workPerCheck = 4 << 20

func newEliminator(f *LU, v *values, s *store, largest int) *eliminator {
	ints := make([]int32, 13*largest)
	take := func() []int32 {
		part := ints[:largest:largest]
		ints = ints[largest:]
		return part
	}
	return &eliminator{
		f: f, v: v, s: s, tol: f.sym.opt.Tolerance, x: make([]float64, largest), below: make([]float64, largest),
		pinv: take(), prow: take(), diag: take(), owner: take(), found: take(),
		run: take(), runFirst: take(), runLast: take(), pruned: take(), visited: take(),
		from: take(), at: take(), stack: take()[:0],
	}
}

// block factors the block at the positions [lo, hi).
func (e *eliminator) block(ctx context.Context, lo, hi int) error {
	e.base = lo
	m := hi - lo
	e.runs = 0
	for i := range m {
		e.pinv[i], e.diag[i], e.owner[i] = -1, int32(i), int32(i)
		e.found[i], e.visited[i] = -1, -1
	}
	l0, work := len(e.s.li), e.s.work
	for j := range m {
		if err := e.column(j); err != nil {
			clear(e.x[:m])
			if full, ok := err.(*MemoryError); ok {
				full.Done, full.Count = lo+j, e.f.sym.n
			}
			return err
		}
		if e.s.work-work > workPerCheck || j&4095 == 4095 {
			if err := ctx.Err(); err != nil {
				return err
			}
			work = e.s.work
		}
	}
	for p, i := range e.s.li[l0:] {
		e.s.li[l0+p] = e.pinv[i]
	}
	rows, pivots := e.f.sym.rows[lo:hi], e.f.rows[lo:hi]
	for k, i := range e.prow[:m] {
		pivots[k] = rows[i]
		e.f.after[lo+int(i)] = int32(lo + k)
	}
	for k := range m {
		e.f.runLast[lo+k] = e.runLast[e.run[k]]
	}
	return nil
}

// column computes column j of L and U.
func (e *eliminator) column(j int) error {
	e.reach(int32(j))
	u := 0
	for _, r := range e.topo {
		u += int(e.runLast[r]-e.from[r]) + 1
	}
	values := len(e.rows) + 1
	if j > 0 {
		values += j - int(e.runFirst[e.run[j-1]])
	}
	if err := e.s.reserve(len(e.rows), values, u); err != nil {
		return err
	}
	e.solve(j, u)
	if err := e.pivot(j); err != nil {
		return err
	}
	e.prune(j)
	return nil
}

// reach scatters column j of the matrix to x and finds the pattern of the solution: the
// rows without a pivot, and topo, the runs that contain the others, each after the runs
// that depend on it.
func (e *eliminator) reach(j int32) {
	e.topo, e.rows = e.topo[:0], e.rows[:0]
	sym, k := e.f.sym, e.base+int(j)
	rows := sym.row[sym.ptr[k]:sym.ptr[k+1]]
	val := e.v.val[sym.ptr[k]:sym.ptr[k+1]]
	for p, i := range rows {
		e.x[i] = val[p]
		k := e.pinv[i]
		if k < 0 {
			if e.found[i] != j {
				e.found[i] = j
				e.rows = append(e.rows, i)
			}
			continue
		}
		r := e.run[k]
		if e.visited[r] == j {
			e.from[r] = min(e.from[r], k)
			continue
		}
		e.visited[r], e.from[r] = j, k
		e.search(r, j)
	}
}

// search visits run r and the runs that depend on it, depth first.
func (e *eliminator) search(r, j int32) {
	stack := append(e.stack[:0], r)
	pinv, found, visited, from, rows := e.pinv, e.found, e.visited, e.from, e.rows
	list, p := e.list(r), 0
visit:
	for {
		for ; p < len(list); p++ {
			i := list[p]
			k := pinv[i]
			if k < 0 {
				if found[i] != j {
					found[i] = j
					rows = append(rows, i)
				}
				continue
			}
			next := e.run[k]
			if visited[next] == j {
				from[next] = min(from[next], k)
				continue
			}
			visited[next], from[next] = j, k
			e.at[r] = int32(p + 1)
			stack = append(stack, next)
			r, list, p = next, e.list(next), 0
			continue visit
		}
		e.topo = append(e.topo, r)
		stack = stack[:len(stack)-1]
		if len(stack) == 0 {
			break
		}
		r = stack[len(stack)-1]
		list, p = e.list(r), int(e.at[r])
	}
	e.stack, e.rows = stack, rows
}

// list returns the rows of run r that the search follows.
func (e *eliminator) list(r int32) []int32 {
	k := e.base + int(e.runLast[r])
	n := e.f.llen[k]
	if e.pruned[r] >= 0 {
		n = e.pruned[r]
	}
	return e.s.li[e.f.lp[k]:][:n]
}

// solve computes column j of U, with u entries above the diagonal, and leaves in x the
// column of L times the pivot.
func (e *eliminator) solve(j, u int) {
	f, s, x, at := e.f, e.s, e.x, len(e.s.ux)
	f.up[e.base+j], f.ulen[e.base+j] = at, int32(u)
	s.ux, s.ui = s.ux[:at+u], s.ui[:at+u]
	ux, ui := s.ux[at:], s.ui[at:]
	at, work := 0, 0
	for t := len(e.topo) - 1; t >= 0; t-- {
		r := e.topo[t]
		first, last := int(e.from[r]), int(e.runLast[r])
		row, below := e.prow[first], int(f.llen[e.base+last])
		if first == last {
			v := x[row]
			x[row] = 0
			ux[at], ui[at] = v, int32(first)
			at++
			if v != 0 {
				rows, l := f.below(s, e.base+first)
				subtract1(x, rows, l, v)
			}
			work += below
			continue
		}
		f.forward(s, x, e.base+first, e.base+last, row, ux[at:], e.below, true)
		for i := first; i <= last; i++ {
			ui[at] = int32(i)
			at++
		}
		w := last - first + 1
		work += w*below + w*(w-1)/2
	}
	s.work += float64(work)
}

// pivot chooses the pivot of column j and stores the column of L.
func (e *eliminator) pivot(j int) error {
	most, best := 0.0, int32(-1)
	for _, i := range e.rows {
		v := math.Abs(e.x[i])
		if !(v <= math.MaxFloat64) {
			return e.failure(j, true)
		}
		if v > most {
			most, best = v, i
		}
	}
	if best < 0 {
		return e.failure(j, false)
	}
	diag := e.diag[j]
	if e.found[diag] == int32(j) && e.pinv[diag] < 0 {
		if v := math.Abs(e.x[diag]); v >= e.tol*most && v > 0 {
			best = diag
		}
	}
	if best != diag { // the column that preferred this row now prefers the row that stays
		other := e.owner[best]
		e.diag[other], e.owner[diag] = diag, other
		e.s.offDiagonal++
	}
	pivot := e.x[best]
	e.x[best] = 0
	k := e.base + j
	e.f.diag[k], e.prow[j], e.pinv[best] = pivot, best, int32(j)
	if e.joins(j) {
		e.join(j, best, pivot)
	} else {
		e.begin(j, best, pivot)
	}
	e.s.work += float64(len(e.rows))
	return nil
}

func (e *eliminator) failure(j int, overflow bool) error {
	k := e.base + j
	for _, i := range e.rows {
		e.x[i] = 0
	}
	return &SingularError{
		Rows: []int{int(e.f.sym.rows[e.base+int(e.diag[j])])}, Columns: []int{int(e.f.sym.cols[k])},
		Rank: k, Overflow: overflow,
	}
}

// joins reports whether column j of L has the pattern of the column before it, without the
// pivot row. Since the column before it updates column j, it is enough to compare lengths.
func (e *eliminator) joins(j int) bool {
	return j > 0 && e.visited[e.run[j-1]] == int32(j) && len(e.rows) == int(e.f.llen[e.base+j-1])
}

// join adds column j to the run of the column before it: it moves the pivot row to the
// front of the list, in all columns of the run.
func (e *eliminator) join(j int, row int32, pivot float64) {
	f, s, k := e.f, e.s, e.base+j
	r := e.run[j-1]
	list, _ := f.below(s, k-1)
	q := 0
	for list[q] != row {
		q++
	}
	list[0], list[q] = list[q], list[0]
	for c := e.base + int(e.runFirst[r]); c < k; c++ {
		_, a := f.below(s, c)
		a = a[k-1-c:]
		a[0], a[q] = a[q], a[0]
	}
	e.run[j], e.runLast[r] = r, int32(j)
	s.lx = s.lx[:len(s.lx)+j-int(e.runFirst[r])+1] // zeros above the diagonal, and the diagonal
	f.lp[k], f.xp[k], f.llen[k] = f.lp[k-1]+1, len(s.lx), int32(len(list)-1)
	for _, i := range list[1:] {
		s.lx = append(s.lx, e.x[i]/pivot)
		e.x[i] = 0
	}
}

// begin begins a run with column j.
func (e *eliminator) begin(j int, row int32, pivot float64) {
	f, s, k := e.f, e.s, e.base+j
	r := int32(e.runs)
	e.runs++
	e.run[j], e.runFirst[r], e.runLast[r], e.pruned[r] = r, int32(j), int32(j), -1
	s.lx = s.lx[:len(s.lx)+1] // the diagonal
	f.lp[k], f.xp[k], f.llen[k] = len(s.li), len(s.lx), int32(len(e.rows)-1)
	for _, i := range e.rows {
		if i != row {
			s.li = append(s.li, i)
			s.lx = append(s.lx, e.x[i]/pivot)
			e.x[i] = 0
		}
	}
}

// prune shortens the lists of the runs that update column j and contain its pivot row.
// Later searches reach the rows of such a list that have no pivot yet through column j.
func (e *eliminator) prune(j int) {
	row := e.prow[j]
	for _, r := range e.topo {
		if e.pruned[r] >= 0 || r == e.run[j] {
			continue
		}
		list, _ := e.f.below(e.s, e.base+int(e.runLast[r]))
		for _, i := range list {
			if i == row {
				e.partition(r, list)
				break
			}
		}
	}
}

// partition moves the rows of the list of run r that are pivots to the front, in all
// columns of the run.
func (e *eliminator) partition(r int32, list []int32) {
	lo, hi := 0, len(list)-1
	first, last := e.base+int(e.runFirst[r]), e.base+int(e.runLast[r])
	for lo <= hi {
		if e.pinv[list[lo]] >= 0 {
			lo++
			continue
		}
		if e.pinv[list[hi]] < 0 {
			hi--
			continue
		}
		list[lo], list[hi] = list[hi], list[lo]
		for c := first; c <= last; c++ {
			_, a := e.f.below(e.s, c)
			a = a[last-c:]
			a[lo], a[hi] = a[hi], a[lo]
		}
		lo++
		hi--
	}
	e.pruned[r] = int32(lo)
}
