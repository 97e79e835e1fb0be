package multifrontal

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"
)

// minTeamWork is the least number of multiplications and additions for which several goroutines pay.
const minTeamWork = 2e6

// minLoopWork is the least work of a front that is done in parts, by a team where there is one.
const minLoopWork = 4e6

// tasksEach is the number of subtrees for each goroutine that the tree is cut into, so that the goroutines end at about
// the same time.
const tasksEach = 6

// run is one numeric factorisation.
type run struct {
	*Analysis
	ctx     context.Context
	values  []float64
	factors []float64
	clean   bool // factors are zero
	level   []uint8
	// contribution[i] is the contribution of supernode i to its parent, by columns; nil before and after.
	contribution [][]float64
	eliminate    func(t *team, i int32) error
}

// worker is what one goroutine has for itself.
type worker struct {
	stack stack
}

// piece is a task: the supernodes lo to hi-1, which are whole subtrees whose roots have the same parent, or one
// supernode.
type piece struct {
	lo, hi int32
	work   float64
}

// tasks is a factorisation as tasks: supernode i is task i, and pieces[k] is task -2-k.
type tasks struct {
	pieces []piece
	waits  []atomic.Int32 // tasks that a supernode waits for
	ready  []int32        // tasks that wait for none, in ascending order of work
	left   int
}

// cut cuts the trees into pieces of at most a given work, and the single supernodes above them.
func (s *Analysis) cut(most float64) *tasks {
	count := int32(len(s.parent))
	t := &tasks{waits: make([]atomic.Int32, count)}
	lowest := make([]int32, count) // first supernode of each subtree
	var roots, single []int32
	for i := range count {
		lowest[i] = i
		if list := s.childrenOf(i); len(list) > 0 {
			lowest[i] = lowest[list[0]]
		}
		if s.parent[i] == none {
			roots = append(roots, i)
		}
	}
	// group cuts trees with the same parent. It returns the number of tasks that the parent waits for.
	group := func(siblings []int32) (parts int32) {
		var last *piece // which may grow
		for _, i := range siblings {
			switch own := s.front[i].work; {
			case own > most:
				last = nil
				parts++
			case last != nil && last.work+own <= most:
				last.hi, last.work = i+1, last.work+own
			default:
				t.pieces = append(t.pieces, piece{lowest[i], i + 1, own})
				last = &t.pieces[len(t.pieces)-1]
				parts++
			}
		}
		return parts
	}
	group(roots)
	for i := range count {
		if s.front[i].work <= most {
			continue
		}
		t.left++
		if n := group(s.childrenOf(i)); n > 0 {
			t.waits[i].Store(n)
		} else {
			single = append(single, i)
		}
	}
	t.left += len(t.pieces)
	slices.SortStableFunc(t.pieces, func(x, y piece) int { return cmp.Compare(x.work, y.work) })
	for k := range t.pieces {
		t.ready = append(t.ready, int32(-2-k))
	}
	t.ready = append(t.ready, single...)
	return t
}

// factor runs eliminate for all supernodes, children first.
func (r *run) factor() error {
	count := int32(len(r.parent))
	r.contribution = make([][]float64, count)
	r.level = make([]uint8, count)
	for i := count - 1; i >= 0; i-- {
		if up := r.parent[i]; up != none {
			r.level[i] = 1 - r.level[up]
		}
	}
	goroutines := runtime.GOMAXPROCS(0)
	if r.stored < minTeamWork {
		goroutines = 1
	}
	if goroutines == 1 {
		w := &worker{stack{mem: make([]float64, r.stack)}}
		return r.piece(&team{size: 1}, w, piece{lo: 0, hi: count})
	}
	tasks := r.cut(r.stored / float64(tasksEach*goroutines))
	workers := make([]worker, goroutines)
	return runTasks(goroutines, tasks.left, tasks.ready, func(t *team, n int, task int32) (int32, error) {
		w := &workers[n]
		piece := piece{lo: task, hi: task + 1}
		if task < none {
			piece = tasks.pieces[-2-task]
			if need := r.stackOf(piece.lo, piece.hi); int64(len(w.stack.mem)) < need {
				w.stack.mem = make([]float64, need)
			}
			w.stack.end = [2]int{}
		}
		if err := r.piece(t, w, piece); err != nil {
			return none, err
		}
		up := r.parent[piece.hi-1]
		if up == none || tasks.waits[up].Add(-1) > 0 {
			return none, nil
		}
		return up, nil
	})
}

// piece eliminates the supernodes of a piece. The contributions of its roots are in memory of their own, the others on the
// stack of the worker.
func (r *run) piece(t *team, w *worker, p piece) error {
	for i := p.lo; i < p.hi; i++ {
		children, below := r.childrenOf(i), r.front[i].below
		switch {
		case below == 0:
		case r.parent[i] < p.hi:
			r.contribution[i] = w.stack.push(int(r.level[i]), below*below)
			clear(r.contribution[i])
		default:
			r.contribution[i] = make([]float64, below*below)
		}
		if err := r.eliminate(t, i); err != nil {
			return err
		}
		for _, c := range children {
			r.contribution[c] = nil
			if c >= p.lo {
				w.stack.pop(int(r.level[c]), r.front[c].below*r.front[c].below)
			}
		}
	}
	return nil
}

// assemble adds the entries of the matrix to the part of supernode i in the factors, and returns it.
func (r *run) assemble(i int32) []float64 {
	p := r.factors[r.start[i]:r.start[i+1]]
	if !r.clean {
		clear(p)
	}
	lo, hi := r.entryPtr[i], r.entryPtr[i+1]
	target := r.target[lo:hi]
	for k, from := range r.source[lo:hi] {
		p[target[k]] = r.values[from]
	}
	return p
}
