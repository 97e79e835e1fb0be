package lines

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// buffers keeps chunk memory from one call to the next.
var buffers = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// Each reads the lines that r has not given yet. It calls parse for chunks of
// them, on as many goroutines as there are CPUs, and take for every chunk and
// its result, one after the other in the order of the text. Chunks are valid
// until take returns.
//
// The first error ends it: of take, of reading (an *sparse.InputError), or of
// ctx. Lines before the place where reading fails are parsed and taken first.
// Each does not wait for a Read that blocks when it ends with an error; the
// reader must not be used again then.
func Each[T any](ctx context.Context, r *Reader, parse func(Chunk) T, take func(Chunk, T) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	workers := runtime.GOMAXPROCS(0)
	jobs := make(chan job, workers)
	free := make(chan *[chunkSize]byte, workers+2)
	s := &splitter{name: r.name, in: r.rest(), line: r.line + 1}
	go produce(inner, s, jobs, free)

	q := queue[T]{take: take, free: free, waiting: map[int]result[T]{}}
	var ended atomic.Bool // all chunks were handed out
	par.Do(workers, func(int) {
		defer stop() // also after a panic in parse: the others must not wait for it
		for {
			select {
			case <-inner.Done():
				return
			case j, ok := <-jobs:
				if !ok {
					ended.Store(true)
					return
				}
				if !q.put(j, parse(j.Chunk)) {
					return
				}
			}
		}
	})
	if q.err != nil {
		return q.err
	}
	if !ended.Load() {
		return ctx.Err()
	}
	q.release()
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// job is one chunk with its place in the text and the memory that holds it.
type job struct {
	Chunk
	seq int
	buf *[chunkSize]byte
}

// produce hands out the chunks of s and closes jobs at the end of the text. It
// takes at most cap(free) buffers.
func produce(ctx context.Context, s *splitter, jobs chan<- job, free chan *[chunkSize]byte) {
	made := 0
	for seq := 0; ; seq++ {
		var buf *[chunkSize]byte
		if made < cap(free) && len(free) == 0 {
			buf = buffers.Get().(*[chunkSize]byte)
			made++
		} else {
			select {
			case buf = <-free:
			case <-ctx.Done():
				return
			}
		}
		c, err := s.next(buf[:])
		select {
		case jobs <- job{c, seq, buf}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			close(jobs)
			return
		}
	}
}

type result[T any] struct {
	job
	value T
}

// queue puts results back into the order of the text.
type queue[T any] struct {
	take func(Chunk, T) error
	free chan *[chunkSize]byte

	mu      sync.Mutex
	next    int // place of the result to be taken next
	waiting map[int]result[T]
	err     error
}

// put takes the result of j and those that waited for it, if its turn has come;
// false means that an error has ended the work.
func (q *queue[T]) put(j job, value T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[j.seq] = result[T]{j, value}
	for q.err == nil {
		r, ok := q.waiting[q.next]
		if !ok {
			return true
		}
		delete(q.waiting, q.next)
		q.next++
		if q.err = q.take(r.Chunk, r.value); q.err == nil {
			q.free <- r.buf // never blocks: there are as many places as buffers
		}
	}
	return false
}

// release gives the chunk memory back for later calls.
func (q *queue[T]) release() {
	for {
		select {
		case b := <-q.free:
			buffers.Put(b)
		default:
			return
		}
	}
}
