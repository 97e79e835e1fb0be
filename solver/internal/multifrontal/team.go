package multifrontal

import (
	"sync"

	"github.com/msrep-go/msrep/internal/par"
)

// team is a group of goroutines that run tasks, each after the tasks that it waits for, and help each other with the
// loops of large tasks.
type team struct {
	size int

	mu      sync.Mutex
	changed sync.Cond
	ready   []int32 // tasks that can begin, the next one last
	left    int     // tasks that have not ended
	loops   []*loop // with parts that nobody has begun
	err     error
}

// loop is a loop of a task. Its parts may run in any order.
type loop struct {
	part       func(i int)
	n, next    int
	unfinished int
}

// runTasks runs tasks on size goroutines until all have ended or one returns an error. ready are the tasks that can
// begin, the last one first, left is the number of all tasks. run returns the task that can begin after it, or none.
func runTasks(size, left int, ready []int32, run func(t *team, worker int, task int32) (next int32, err error)) error {
	t := &team{size: size, ready: ready, left: left}
	t.changed.L = &t.mu
	par.Do(size, func(worker int) {
		done := false
		defer func() {
			if !done { // a panic, which par.Do raises again
				t.end(errStopped)
			}
		}()
		t.work(worker, run)
		done = true
	})
	return t.err
}

type stopped struct{}

func (stopped) Error() string { return "another goroutine failed" }

var errStopped = stopped{}

func (t *team) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil || t.err == errStopped {
		t.err = err
	}
	t.changed.Broadcast()
}

func (t *team) work(worker int, run func(t *team, worker int, task int32) (int32, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.left > 0 && t.err == nil {
		switch {
		case len(t.loops) > 0:
			t.part(t.loops[len(t.loops)-1])
		case len(t.ready) > 0:
			task := t.ready[len(t.ready)-1]
			t.ready = t.ready[:len(t.ready)-1]
			next, err := t.unlocked(func() (int32, error) { return run(t, worker, task) })
			t.left--
			if err != nil {
				t.err = err
			}
			if next != none {
				t.ready = append(t.ready, next)
			}
			t.changed.Broadcast()
		default:
			t.changed.Wait()
		}
	}
}

func (t *team) unlocked(f func() (int32, error)) (int32, error) {
	t.mu.Unlock()
	defer t.mu.Lock()
	return f()
}

// part runs one part of l, which has one that nobody has begun.
func (t *team) part(l *loop) {
	i := l.next
	l.next++
	if l.next == l.n {
		for k, other := range t.loops {
			if other == l {
				t.loops = append(t.loops[:k], t.loops[k+1:]...)
				break
			}
		}
	}
	t.unlocked(func() (int32, error) { l.part(i); return 0, nil })
	if l.unfinished--; l.unfinished == 0 {
		t.changed.Broadcast()
	}
}

// each calls f(0) ... f(n-1) from a task, on all goroutines that have nothing else to do. It returns early only if the
// team stops.
func (t *team) each(n int, f func(i int)) {
	if t.size == 1 || n == 1 {
		for i := range n {
			f(i)
		}
		return
	}
	if n <= 0 {
		return
	}
	l := &loop{part: f, n: n, unfinished: n}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loops = append(t.loops, l)
	t.changed.Broadcast()
	for l.unfinished > 0 {
		switch {
		case l.next < l.n:
			t.part(l)
		case t.err != nil:
			return
		default:
			t.changed.Wait()
		}
	}
}
