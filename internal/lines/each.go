package lines

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// buffers reuses chunk memory between calls.
var buffers = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// Each reads the lines that r has not returned yet. It calls parse for chunks of lines,
// on GOMAXPROCS goroutines, and take for every chunk and its result, one at a time in the
// order of the text. A chunk is valid until take returns.
//
// Each ends with the first error of take, of reading (an *sparse.InputError), or of ctx.
// It first parses and takes the lines before the place where reading fails. When it ends
// with an error it does not wait for a blocked Read, and the reader must not be used
// again.
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
	var ended atomic.Bool // all chunks were parsed
	par.Do(workers, func(int) {
		defer stop() // also after a panic in parse, for which the other goroutines must not wait
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

// job is one chunk with its number and the memory that holds it.
type job struct {
	Chunk
	seq int
	buf *[chunkSize]byte
}

// produce sends the chunks of s to jobs and closes jobs at the end of the text. It takes
// at most cap(free) buffers.
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

// queue restores the order of the text.
type queue[T any] struct {
	take func(Chunk, T) error
	free chan *[chunkSize]byte

	mu      sync.Mutex
	next    int // number of the result to be taken next
	waiting map[int]result[T]
	err     error
}

// put takes the result of j and the results that wait for it, if all earlier ones were
// taken. It returns false if an error has ended the work.
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
			q.free <- r.buf // never blocks: free has room for all buffers
		}
	}
	return false
}

// release returns the chunk memory to the pool.
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
