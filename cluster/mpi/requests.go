//go:build mpi

package mpi

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/msrep-go/msrep/cluster"
)

// requests is an array of MPI requests, in C memory, and the pinned memory that they use.
type requests struct {
	comm  *Comm
	first *C.MPI_Request
	used  int
	pin   runtime.Pinner
}

func (c *Comm) requests(n int) (*requests, error) {
	if c.closing == nil || c.over.Load() {
		return nil, errOver
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("mpi: %d messages at a time: more than %d are not supported", n, math.MaxInt32)
	}
	q := &requests{comm: c, first: C.msrep_requests(C.int64_t(n))}
	if q.first == nil {
		return nil, fmt.Errorf("mpi: no memory for %d requests", n)
	}
	return q, nil
}

// each makes a request for every piece of data.
func (q *requests) each(call string, data []byte, f func(at C.int, data unsafe.Pointer, n C.int) C.int) error {
	return pieces(data, func(piece []byte) error {
		q.comm.mu.Lock()
		defer q.comm.mu.Unlock()
		err := check(call, f(C.int(q.used), address(&q.pin, piece), C.int(len(piece))))
		if err == nil {
			q.used++
		}
		return err
	})
}

// spinTime is the time for which a waiting rank tests its requests continuously before it sleeps between tests.
const spinTime = 200 * time.Microsecond

// wait returns when all requests are done. The lock is free between tests, so other requests make progress.
func (q *requests) wait() error {
	var begin time.Time
	for rest := C.int(0); ; {
		var done C.int
		q.comm.mu.Lock()
		err := check("MPI_Testall", C.msrep_test(q.first, C.int(q.used), &done))
		q.comm.mu.Unlock()
		if err != nil || done != 0 {
			return err
		}
		if begin.IsZero() {
			begin = time.Now()
		} else if time.Since(begin) > spinTime {
			rest = 1
		}
		C.msrep_pause(rest)
	}
}

// free frees the requests, which must be inactive.
func (q *requests) free() error {
	q.comm.mu.Lock()
	defer q.comm.mu.Unlock()
	q.pin.Unpin()
	err := check("MPI_Request_free", C.msrep_free(q.first, C.int(q.used)))
	q.first, q.used = nil, 0
	return err
}

// link is a set of persistent requests.
type link struct {
	*requests
	bytes, messages int64 // of one Start
	starts          int64
	enter           func() error // enters the device whose memory the messages use; nil for host memory
}

// entered runs f on a thread on which the device of the messages is current.
func (k *link) entered(f func() error) error {
	if k.enter == nil {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := k.enter(); err != nil {
		return err
	}
	return f()
}

// Link sets up persistent requests; see cluster.Comm.
func (c *Comm) Link(out, in []cluster.Message) (cluster.Link, error) {
	tag := C.int(firstLink + c.links%linkTags)
	c.links++
	n := 0
	for _, m := range slices.Concat(out, in) {
		n += countPieces(m.Data)
	}
	q, err := c.requests(n)
	if err != nil {
		return nil, err
	}
	k := &link{requests: q}
	for _, m := range slices.Concat(out, in) {
		if m.Enter != nil {
			k.enter = m.Enter
		}
	}
	return k, k.entered(func() error { return k.setUp(out, in, tag) })
}

func (k *link) setUp(out, in []cluster.Message, tag C.int) error {
	q := k.requests
	for _, m := range in {
		err := q.each("MPI_Recv_init", m.Data, func(at C.int, data unsafe.Pointer, n C.int) C.int {
			return C.msrep_recv_init(q.first, at, data, n, C.int(m.Rank), tag)
		})
		if err != nil {
			return err
		}
	}
	received := q.used
	for _, m := range out {
		k.bytes += int64(len(m.Data))
		err := q.each("MPI_Send_init", m.Data, func(at C.int, data unsafe.Pointer, n C.int) C.int {
			return C.msrep_send_init(q.first, at, data, n, C.int(m.Rank), tag)
		})
		if err != nil {
			return err
		}
	}
	k.messages = int64(q.used - received)
	return nil
}

func (k *link) Start() error {
	if k.used == 0 {
		return nil
	}
	return k.entered(func() error {
		k.comm.mu.Lock()
		defer k.comm.mu.Unlock()
		k.starts++
		return check("MPI_Startall", C.msrep_start(k.first, C.int(k.used)))
	})
}

func (k *link) Wait() error {
	if k.used == 0 {
		return nil
	}
	return k.entered(k.wait)
}

func (k *link) Sent() (bytes, messages int64) { return k.starts * k.bytes, k.starts * k.messages }

func (k *link) Close() error {
	if k.first == nil {
		return nil
	}
	return k.free()
}
