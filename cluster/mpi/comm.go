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

// Error is a failed call of MPI.
type Error struct {
	Call string
	Text string // text of the library
}

// Error returns the name of the call and the text of the library.
func (e *Error) Error() string { return fmt.Sprintf("mpi: %s: %s", e.Call, e.Text) }

// Is reports that target is cluster.ErrAborted: calls fail when another rank has ended the run.
func (e *Error) Is(target error) bool { return target == cluster.ErrAborted }

// Comm connects all processes of a run. A process has one, which Start returns. It implements cluster.Comm and
// cluster.DeviceComm.
type Comm struct {
	rank, size int
	onDevice   bool // messages may use the memory of GPUs
	links      int
	over       atomic.Bool // closed
	closing    chan struct{}
	closed     chan error

	mu sync.Mutex // held by the thread that calls the library
}

var _ cluster.Comm = (*Comm)(nil)

// started is true after Start was called.
var started atomic.Bool

// Errors of calls at the wrong time.
var (
	errStarted = errors.New("mpi: Start was called before: a process can start MPI only once")
	errOver    = errors.New("mpi: closed, or not made by Start")
)

// Start joins the run that a launcher such as mpirun has started; it returns after all processes of the run have
// called it. A process without a launcher is a run by itself. Close ends the run. Start returns an error if the
// process has called it before, or if the library does not allow calls of several threads one after the other, and a
// *sparse.InputError if MSREP_MPI_DEVICE is not auto, on or off.
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

// serve starts and ends MPI on the same thread, which MPI requires.
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
		ready <- &Error{"MPI_Init_thread", "this MPI library does not allow calls of several threads one after the other (MPI_THREAD_SERIALIZED)"}
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

// Close ends MPI; later messages are errors. All ranks call it after closing their links. It may be called again.
func (c *Comm) Close() error {
	if c == nil || c.closing == nil || c.over.Swap(true) {
		return nil
	}
	close(c.closing)
	return <-c.closed
}

// check returns the error of an MPI code.
func check(call string, code C.int) error {
	if code == 0 { // MPI_SUCCESS is 0 in every version of the standard
		return nil
	}
	var text [C.MSREP_ERROR]C.char
	C.msrep_error(code, &text[0])
	return &Error{call, strings.TrimSpace(C.GoString(&text[0]))}
}

// Rank returns the number of this process.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of processes.
func (c *Comm) Size() int { return c.size }

// abortGrace is the time that a launcher has to end this process.
const abortGrace = 2 * time.Second

// Abort ends all processes, this one at the latest after abortGrace.
func (c *Comm) Abort(code int) {
	time.AfterFunc(abortGrace, func() { os.Exit(code) })
	c.mu.Lock() // never unlocked
	C.msrep_abort(C.int(code))
	os.Exit(code)
}

// maxMessage is the largest message in bytes: counts of MPI have 32 bits.
const maxMessage = 1 << 30

// pieces calls f for pieces of b of at most maxMessage bytes.
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

// address returns the address of Go memory for a call of MPI; memory that MPI retains is pinned.
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
	for i := 1; i < c.size; i++ { // each rank starts with its neighbour
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

// Tags: those of links follow that of Swap, up to the largest tag that MPI guarantees.
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

// Sum replaces v by its sum over all ranks.
func (c *Comm) Sum(v []float64) error { return c.reduce(v, 0) }

// Max replaces v by its maximum over all ranks.
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

// once makes a call that starts one request, and waits for the request.
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
