//go:build mpi

package mpi

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/msrep-go/msrep/cluster"
)

// Error is a call of MPI that failed.
type Error struct {
	Call string
	Text string // what the library says
}

func (e *Error) Error() string { return fmt.Sprintf("mpi: %s: %s", e.Call, e.Text) }

// Is says that calls fail when another rank has ended the run.
func (e *Error) Is(target error) bool { return target == cluster.ErrAborted }

// Comm is all processes of a run, as Start gives it. There is one in a process.
type Comm struct {
	rank, size int
	onDevice   bool // messages may use the memory of GPUs
	links      int
	over       atomic.Bool // closed
	closing    chan struct{}
	closed     chan error

	mu sync.Mutex // held by the thread that is in the library
}

var _ cluster.Comm = (*Comm)(nil)

// started tells whether Start was called.
var started atomic.Bool

// What calls that come at the wrong time give.
var (
	errStarted = errors.New("mpi: Start was called before: MPI can be started once in the life of a process")
	errOver    = errors.New("mpi: closed, or not made by Start")
)

// Start joins the run that a launcher such as mpirun has started: it returns when all processes
// of the run have called it. A process that no launcher has started is a run of its own. Close ends it. Start is an error when it is called again
// in the life of a process, where the library takes no calls of several threads in turn, and
// a *sparse.InputError where MSREP_MPI_DEVICE is not auto, on or off.
func Start() (*Comm, error) {
	if started.Swap(true) {
		return nil, errStarted
	}
	c := &Comm{closing: make(chan struct{}), closed: make(chan error)}
	ready := make(chan error)
	go c.serve(ready)
	if err := <-ready; err != nil {
		return nil, err
	}
	return c, nil
}

// serve starts and ends MPI, which one and the same thread has to do.
func (c *Comm) serve(ready chan<- error) {
	runtime.LockOSThread()
	var enough, rank, size C.int
	if err := check("MPI_Init_thread", C.msrep_init(&enough, &rank, &size)); err != nil {
		ready <- err
		return
	}
	c.rank, c.size = int(rank), int(size)
	if enough == 0 {
		C.msrep_finalize()
		ready <- &Error{"MPI_Init_thread", "this MPI library can't be used from several threads in turn (MPI_THREAD_SERIALIZED)"}
		return
	}
	var err error
	if c.onDevice, err = askDevices(); err != nil {
		C.msrep_finalize()
		ready <- err
		return
	}
	ready <- nil
	<-c.closing
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed <- check("MPI_Finalize", C.msrep_finalize())
}

// Close ends MPI, after which messages are errors. All ranks call it, when their links are
// closed. It may be called again.
func (c *Comm) Close() error {
	if c == nil || c.closing == nil || c.over.Swap(true) {
		return nil
	}
	close(c.closing)
	return <-c.closed
}

// check makes an error of a code of MPI.
func check(call string, code C.int) error {
	if code == 0 { // MPI_SUCCESS is 0 in every version of the standard
		return nil
	}
	var text [C.MSREP_ERROR]C.char
	C.msrep_error(code, &text[0])
	return &Error{call, strings.TrimSpace(C.GoString(&text[0]))}
}

// Rank is the number of this process.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of processes.
func (c *Comm) Size() int { return c.size }

// abortGrace is how long a launcher has to end this process.
const abortGrace = 2 * time.Second

// Abort ends all processes, this one at the latest after abortGrace.
func (c *Comm) Abort(code int) {
	time.AfterFunc(abortGrace, func() { os.Exit(code) })
	c.mu.Lock() // for good
	C.msrep_abort(C.int(code))
	os.Exit(code)
}

// maxMessage is how many bytes one message holds: counts of MPI are 32 bits wide.
const maxMessage = 1 << 30

// pieces calls f for pieces of b that are messages of MPI.
func pieces(b []byte, f func(piece []byte) error) error {
	for len(b) > 0 {
		n := min(len(b), maxMessage)
		if err := f(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func countPieces(b []byte) int { return (len(b) + maxMessage - 1) / maxMessage }

// address is memory of Go for a call of MPI; it is pinned where MPI keeps it.
func address[T any](pin *runtime.Pinner, v []T) unsafe.Pointer {
	if len(v) == 0 {
		return nil
	}
	p := unsafe.SliceData(v)
	pin.Pin(p)
	return unsafe.Pointer(p)
}

// Swap sends send[r] to rank r; see cluster.Comm.
func (c *Comm) Swap(send [][]byte) ([][]byte, error) {
	if len(send) != c.size {
		return nil, fmt.Errorf("mpi: %d messages for %d ranks", len(send), c.size)
	}
	given, taken := make([]int64, c.size), make([]int64, c.size)
	for r, b := range send {
		given[r] = int64(len(b))
	}
	err := c.once("MPI_Ialltoall", func(r *C.MPI_Request, pin *runtime.Pinner) C.int {
		return C.msrep_alltoall(r, (*C.int64_t)(address(pin, given)), (*C.int64_t)(address(pin, taken)))
	})
	if err != nil {
		return nil, err
	}
	n := 0
	received := make([][]byte, c.size)
	for r := range received {
		received[r] = make([]byte, taken[r])
		if r != c.rank {
			n += countPieces(send[r]) + countPieces(received[r])
		}
	}
	copy(received[c.rank], send[c.rank])
	q, err := c.requests(n)
	if err != nil {
		return nil, err
	}
	defer q.free()
	for i := 1; i < c.size; i++ { // each rank begins with its neighbour
		from, to := (c.rank+c.size-i)%c.size, (c.rank+i)%c.size
		if err := q.each("MPI_Irecv", received[from], func(at C.int, data unsafe.Pointer, n C.int) C.int {
			return C.msrep_irecv(q.first, at, data, n, C.int(from), swapTag)
		}); err != nil {
			return nil, err
		}
		if err := q.each("MPI_Isend", send[to], func(at C.int, data unsafe.Pointer, n C.int) C.int {
			return C.msrep_isend(q.first, at, data, n, C.int(to), swapTag)
		}); err != nil {
			return nil, err
		}
	}
	return received, q.wait()
}

// Tags: those of links come after that of Swap, up to the least that MPI promises.
const (
	swapTag   = 1
	firstLink = 2
	linkTags  = 32_000
)

// Share sends b to all ranks; see cluster.Comm.
func (c *Comm) Share(b []byte) ([][]byte, error) {
	own, lengths := []int64{int64(len(b))}, make([]int64, c.size)
	err := c.once("MPI_Iallgather", func(r *C.MPI_Request, pin *runtime.Pinner) C.int {
		return C.msrep_allgather(r, (*C.int64_t)(address(pin, own)), (*C.int64_t)(address(pin, lengths)))
	})
	if err != nil {
		return nil, err
	}
	counts, starts := make([]C.int, c.size), make([]C.int, c.size)
	var total int64
	for r, n := range lengths {
		if total+n > math.MaxInt32 {
			return nil, fmt.Errorf("mpi: ranks share more than %d bytes", math.MaxInt32)
		}
		counts[r], starts[r] = C.int(n), C.int(total)
		total += n
	}
	joined := make([]byte, total)
	err = c.once("MPI_Iallgatherv", func(r *C.MPI_Request, pin *runtime.Pinner) C.int {
		return C.msrep_allgatherv(r, address(pin, b), C.int(len(b)), address(pin, joined),
			(*C.int)(address(pin, counts)), (*C.int)(address(pin, starts)))
	})
	if err != nil {
		return nil, err
	}
	all := make([][]byte, c.size)
	for r := range all {
		all[r] = joined[starts[r] : starts[r]+counts[r] : starts[r]+counts[r]]
	}
	return all, nil
}

// Sum adds v up over all ranks.
func (c *Comm) Sum(v []float64) error { return c.reduce(v, 0) }

// Max is the maximum of v over all ranks.
func (c *Comm) Max(v []float64) error { return c.reduce(v, 1) }

func (c *Comm) reduce(v []float64, largest C.int) error {
	out := make([]float64, min(len(v), maxMessage/8))
	for len(v) > 0 {
		part := v[:min(len(v), len(out))]
		err := c.once("MPI_Iallreduce", func(r *C.MPI_Request, pin *runtime.Pinner) C.int {
			return C.msrep_allreduce(r, (*C.double)(address(pin, part)), (*C.double)(address(pin, out)), C.int(len(part)), largest)
		})
		if err != nil {
			return err
		}
		copy(part, out)
		v = v[len(part):]
	}
	return nil
}

// once does a call that makes one request, and waits for it.
func (c *Comm) once(call string, f func(r *C.MPI_Request, pin *runtime.Pinner) C.int) error {
	q, err := c.requests(1)
	if err != nil {
		return err
	}
	defer q.free()
	c.mu.Lock()
	err = check(call, f(q.first, &q.pin))
	c.mu.Unlock()
	if err != nil {
		return err
	}
	q.used = 1
	return q.wait()
}
