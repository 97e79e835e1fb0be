package cluster

import (
	"errors"
	"unsafe"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// port is the memory of the elements that this rank sends, or receives: host memory and, if vectors stay on devices,
// also memory of the first device. Messages use one of the two.
type port[V sparse.Value] struct {
	room   []V              // host memory: front elements for the caller, then the elements of the port
	host   []V              // the elements
	pinned bool             // room is pinned memory
	free   func() error     // frees room; nil for memory of Go
	device *msrep.Vector[V] // the elements on the first device; nil if no vectors stay on devices
	addr   uintptr          // of the elements on the device, if messages use them; else 0
	enter  func() error     // makes the device current on the calling thread
}

// openPort makes a port for n elements, preceded by front elements for the caller. onDevice means that vectors stay
// on the devices.
func openPort[V sparse.Value](s *System, front, n int, onDevice bool) (q port[V], err error) {
	d := devvec.Device(s.local, 0)
	if p, ok := d.(kernels.Pinner); ok && front+n > 0 {
		var b []byte
		if b, q.free, err = p.AllocPinned(int64(front+n) * mem.Size[V]()); err != nil {
			return q, err
		}
		q.room, q.pinned = mem.Slice[V](b, int64(front+n))
	}
	if !q.pinned {
		q.room = make([]V, front+n)
	}
	q.host = q.room[front:]
	if !onDevice {
		return q, nil
	}
	a := kernels.Array[V]{Len: int64(n)}
	if taker, ok := s.comm.(DeviceComm); ok && n > 0 && taker.TakesMemoryOf(d.Info().Kind) {
		if direct, ok := d.(kernels.Addresser); ok {
			if a.Buf, q.addr, err = direct.AllocAddressed(int64(n) * mem.Size[V]()); err != nil {
				return q, err
			}
			q.enter = direct.Enter
		}
	}
	if a.Buf == nil {
		if a, err = kernels.NewArray[V](d, int64(n)); err != nil {
			return q, err
		}
	}
	if q.device, err = devvec.Adopt(s.local, 0, a); err != nil {
		err = errors.Join(err, a.Free())
	}
	return q, err
}

// direct reports whether messages use the memory of the device.
func (q *port[V]) direct() bool { return q.addr != 0 }

// messages returns the messages of runs.
func (q *port[V]) messages(runs []indexRun) []Message {
	b := mem.Bytes(q.host)
	if q.direct() { // a slice of the device address, which the host never reads
		b = unsafe.Slice(*(**byte)(unsafe.Pointer(&q.addr)), len(b))
	}
	size := int(mem.Size[V]())
	out := make([]Message, len(runs))
	for i, r := range runs {
		out[i] = Message{Rank: r.rank, Data: b[r.at*size : (r.at+r.n)*size], Enter: q.enter}
	}
	return out
}

// fromHost makes the elements in host memory ready to be sent. It waits for all operations on vectors, which may
// still read memory that messages overwrite.
func (q *port[V]) fromHost() error {
	switch {
	case q.device == nil:
		return nil
	case q.direct():
		return q.device.Write(q.host)
	}
	return q.device.Wait()
}

// toHost copies received elements to host memory.
func (q *port[V]) toHost() error {
	if q.direct() {
		return q.device.Read(q.host)
	}
	return nil
}

// fromDevice makes the elements on the device ready to be sent, after all operations on vectors are done.
func (q *port[V]) fromDevice() error {
	if q.direct() || len(q.host) == 0 {
		return q.device.Wait()
	}
	return q.device.Read(q.host)
}

// toDevice copies received elements to the device.
func (q *port[V]) toDevice() error {
	if q.direct() || len(q.host) == 0 {
		return nil
	}
	return q.device.Write(q.host)
}

// memory returns the name of the memory that messages use.
func (q *port[V]) memory() string {
	switch {
	case q.direct():
		return "device"
	case q.pinned:
		return "pinned"
	}
	return "host"
}

func (q *port[V]) close() error {
	err := q.device.Close()
	if q.free != nil {
		err = errors.Join(err, q.free())
	}
	*q = port[V]{}
	return err
}
