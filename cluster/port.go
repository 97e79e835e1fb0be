package cluster

import (
	"errors"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// port is where elements leave this rank, or arrive: host memory, and where vectors
// stay on devices also memory of the first device. Messages use one of the two.
type port[V sparse.Value] struct {
	room   []V              // host memory: what the caller wanted in front, then the elements
	host   []V              // the elements
	pinned bool             // room is
	free   func() error     // gives room back; nil where there is nothing to do
	device *msrep.Vector[V] // the elements on the first device; nil where vectors stay on none
	addr   uintptr          // of the elements there, where messages use them; else 0
	enter  func() error     // makes that device the one of the calling thread
}

// openPort makes a port for n elements, with room for others in front of them.
// onDevice says that vectors stay on the devices.
func openPort[V sparse.Value](s *System, front, n int, onDevice bool) (q port[V], err error) {
	d := s.local.Device(0)
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
	if q.device, err = msrep.AdoptVector(s.local, 0, a); err != nil {
		err = errors.Join(err, a.Free())
	}
	return q, err
}

// direct reports whether messages use the memory of the device.
func (q *port[V]) direct() bool { return q.addr != 0 }

// messages is the messages of runs.
func (q *port[V]) messages(runs []indexRun) []Message {
	b := mem.Bytes(q.host)
	if q.direct() { // never read here: only its address counts
		b = unsafe.Slice(*(**byte)(unsafe.Pointer(&q.addr)), len(b))
	}
	size := int(mem.Size[V]())
	out := make([]Message, len(runs))
	for i, r := range runs {
		out[i] = Message{Rank: r.rank, Data: b[r.at*size : (r.at+r.n)*size], Enter: q.enter}
	}
	return out
}

// fromHost brings the elements in host memory to where messages leave from, when all
// operations on vectors are done: they may still read what messages bring anew.
func (q *port[V]) fromHost() error {
	switch {
	case q.device == nil:
		return nil
	case q.direct():
		return q.device.Write(q.host)
	}
	return q.device.Wait()
}

// toHost brings the elements that have arrived to host memory.
func (q *port[V]) toHost() error {
	if q.direct() {
		return q.device.Read(q.host)
	}
	return nil
}

// fromDevice brings the elements on the device to where messages leave from, when all
// operations on vectors are done.
func (q *port[V]) fromDevice() error {
	if q.direct() || len(q.host) == 0 {
		return q.device.Wait()
	}
	return q.device.Read(q.host)
}

// toDevice brings the elements that have arrived to the device.
func (q *port[V]) toDevice() error {
	if q.direct() || len(q.host) == 0 {
		return nil
	}
	return q.device.Write(q.host)
}

// memory names what messages use.
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
