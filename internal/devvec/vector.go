package devvec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Vector is msrep.Vector.
type Vector[V sparse.Value] struct {
	on     *Devices
	queue  *Queue
	cuts   []int // device i has the elements [cuts[i], cuts[i+1])
	pieces []kernels.Array[V]
	rooms  []Room // by device: unused elements around the piece; nil if there are none
	host   []V    // all elements, if the devices use host memory
	closed bool
}

// Room is a number of elements before and after the piece of a vector on a device, in the same buffer. A product stores
// there the elements that it needs from other devices.
type Room struct{ Before, After int64 }

// EvenCuts cuts [0, n) into equal pieces: piece i is [cuts[i], cuts[i+1]).
func EvenCuts(n, parts int) []int {
	cuts := make([]int, parts+1)
	for i := range cuts {
		cuts[i] = int(par.Cut(int64(n), parts, i))
	}
	return cuts
}

// New returns a vector of zeros; device i has the elements [cuts[i], cuts[i+1]).
func New[V sparse.Value](on *Devices, cuts []int) (*Vector[V], error) {
	return NewWithRoom[V](on, cuts, nil)
}

// NewWithRoom is New for a vector whose piece on device i has rooms[i] around it, on devices with their own memory. A device
// gives no room if the rooms of all vectors would take more than an eighth of its memory, or if memory is short. rooms may be
// nil.
func NewWithRoom[V sparse.Value](on *Devices, cuts []int, rooms []Room) (*Vector[V], error) {
	q, err := on.vectors()
	if err != nil {
		return nil, err
	}
	q.mu.Lock() // Close of the System waits until the vector is registered
	defer q.mu.Unlock()
	if q.closed {
		return nil, errSystemClosed
	}
	v := &Vector[V]{on: on, queue: q, cuts: cuts, pieces: make([]kernels.Array[V], len(on.List))}
	if on.OnHost() {
		if v.host, err = onDeviceHost[V](on, v.Len()); err != nil {
			return nil, err
		}
		for i, d := range on.List {
			v.pieces[i] = kernels.AdoptArray(d.(kernels.HostMapper), v.host[cuts[i]:cuts[i+1]])
		}
	} else {
		v.rooms = make([]Room, len(on.List))
		err = q.Each(func(i int) (err error) {
			if rooms != nil {
				if err := v.allocateWithRoom(i, rooms[i]); err != nil || v.pieces[i].Buf != nil {
					return err
				}
			}
			v.pieces[i], err = kernels.NewArray[V](on.List[i], int64(cuts[i+1]-cuts[i]))
			return err
		})
	}
	if err == nil {
		err = on.Register(v)
	}
	if err != nil {
		return nil, errors.Join(err, v.free())
	}
	return v, nil
}

// roomAlign is the multiple of elements at which a piece begins, so that it is aligned as without room.
const roomAlign = 64

// allocateWithRoom allocates the piece on device i with room around it, if it may and there is memory.
func (v *Vector[V]) allocateWithRoom(i int, r Room) error {
	r.Before = (r.Before + roomAlign - 1) / roomAlign * roomAlign
	n := int64(v.cuts[i+1] - v.cuts[i])
	bytes := (r.Before + r.After) * mem.Size[V]()
	if bytes == 0 || !v.on.takeRoom(i, bytes) {
		return nil
	}
	all, err := kernels.NewArray[V](v.on.List[i], r.Before+n+r.After)
	if err != nil {
		v.on.returnRoom(i, bytes)
		if errors.Is(err, kernels.ErrOutOfMemory) {
			return nil
		}
		return err
	}
	v.pieces[i], v.rooms[i] = all.Sub(r.Before, r.Before+n), r
	return nil
}

// Around returns the piece of v on device i together with some elements before and after it, if it has that much room. Only
// the stream of device i may use these elements, in the function f of Queued.
func Around[V sparse.Value](v *Vector[V], i int, r Room) (a kernels.Array[V], ok bool) {
	var has Room
	if v.rooms != nil {
		has = v.rooms[i]
	}
	if r.Before > has.Before || r.After > has.After {
		return a, false
	}
	return v.pieces[i].Sub(-r.Before, v.pieces[i].Len+r.After), true
}

// Adopt returns a vector that has all its elements on device i of a System, in the array a. The vector takes over the
// memory of a: Close frees it. After an error the memory still belongs to the caller.
func Adopt[V sparse.Value](s System, i int, a kernels.Array[V]) (v *Vector[V], err error) {
	defer rescue.To(&err)
	on := Of(s)
	switch {
	case i < 0 || i >= len(on.List) || a.Buf == nil || a.Buf.Device() != on.List[i]:
		return nil, sparse.Inputf("device", "%d: the array is not in the memory of this device", i)
	case a.Len < 0 || a.Len > sparse.MaxDim:
		return nil, sparse.Inputf("vector", "%d elements: use 0 to %d", a.Len, sparse.MaxDim)
	}
	q, err := on.vectors()
	if err != nil {
		return nil, err
	}
	v = &Vector[V]{on: on, queue: q, cuts: make([]int, len(on.List)+1), pieces: make([]kernels.Array[V], len(on.List))}
	for k := i + 1; k < len(v.cuts); k++ {
		v.cuts[k] = int(a.Len)
	}
	v.pieces[i] = a
	if on.OnHost() {
		if v.host, err = kernels.View(on.List[i].(kernels.HostMapper), a); err != nil {
			return nil, err
		}
	}
	if err := on.Register(v); err != nil {
		return nil, err
	}
	return v, nil
}

// onDeviceHost returns n zeros for devices that use host memory. The first use of a page decides its node.
func onDeviceHost[V sparse.Value](on *Devices, n int) ([]V, error) {
	info := on.List[0].Info()
	if need := int64(n) * mem.Size[V](); info.Memory > 0 && need > info.Memory {
		return nil, &kernels.DeviceError{Device: info.ID, Call: "alloc", Bytes: need, Err: kernels.ErrOutOfMemory}
	}
	return OnHost[V](n)
}

// OnHost returns n zeros in host memory, or an error if there is not enough memory.
func OnHost[T mem.Elem](n int) ([]T, error) {
	need := int64(n) * mem.Size[T]()
	if have, ok := mem.Fits(need); !ok {
		return nil, &sparse.InputError{Subject: "vector", Err: kernels.ErrOutOfMemory,
			Msg: fmt.Sprintf("%d elements take %d bytes of host memory, %d are available", n, need, have)}
	}
	return mem.Make[T](n), nil
}

// Cuts returns the bounds of the pieces of v: device i has the elements [cuts[i], cuts[i+1]).
func Cuts[V sparse.Value](v *Vector[V]) []int { return v.cuts }

// Pieces returns the elements of v on each device. Use them only in the function f of Queued.
func Pieces[V sparse.Value](v *Vector[V]) []kernels.Array[V] { return v.pieces }

// BelongsTo reports whether v is a vector of these devices.
func BelongsTo[V sparse.Value](v *Vector[V], d *Devices) bool { return v.on == d }

// Len returns the number of elements; 0 if v is nil.
func (v *Vector[V]) Len() int {
	if v == nil || len(v.cuts) == 0 {
		return 0
	}
	return v.cuts[len(v.cuts)-1]
}

// Host returns the elements in place if the devices use host memory, otherwise nil. Do not use them during an
// operation on v or after Close.
func (v *Vector[V]) Host() []V {
	if v == nil {
		return nil
	}
	return v.host
}

// Bytes returns the number of bytes that the vector takes, in device or host memory.
func (v *Vector[V]) Bytes() int64 {
	if v == nil {
		return 0
	}
	n := int64(v.Len())
	for _, r := range v.rooms {
		n += r.Before + r.After
	}
	return n * mem.Size[V]()
}

// Write copies src to the vector. src must have Len elements.
func (v *Vector[V]) Write(src []V) error {
	return v.transfer("src", src, func(s kernels.Stream, piece kernels.Array[V], part []V) error { return piece.Write(s, part) })
}

// Read copies the vector to dst. dst must have Len elements.
func (v *Vector[V]) Read(dst []V) error {
	return v.transfer("dst", dst, func(s kernels.Stream, piece kernels.Array[V], part []V) error { return piece.Read(s, part) })
}

// transfer calls f to copy each piece from or to the host, and waits.
func (v *Vector[V]) transfer(name string, all []V, f func(s kernels.Stream, piece kernels.Array[V], part []V) error) (err error) {
	defer rescue.To(&err)
	if v != nil && len(all) != v.Len() {
		return sparse.Inputf(name, "%d elements: the vector has %d", len(all), v.Len())
	}
	return Queued(v, nil, func(q *Queue) error {
		return q.Each(func(i int) error {
			if v.pieces[i].Len == 0 { // for the error of an earlier operation on this stream
				return q.On[i].Sync()
			}
			return errors.Join(f(q.On[i], v.pieces[i], all[v.cuts[i]:v.cuts[i+1]]), q.On[i].Sync())
		})
	})
}

// Wait blocks until all earlier operations on vectors of the System are done.
func (v *Vector[V]) Wait() (err error) {
	defer rescue.To(&err)
	if v == nil {
		return sparse.Inputf("vector", "is nil")
	}
	return Queued(v, nil, func(q *Queue) error { return q.Sync() })
}

// Close waits for unfinished operations and frees the memory. It may be called again.
func (v *Vector[V]) Close() error {
	if v == nil || v.on == nil {
		return nil
	}
	v.queue.mu.Lock()
	defer v.queue.mu.Unlock()
	if v.closed {
		return nil
	}
	v.closed = true
	defer v.on.Unregister(v)
	var err error
	if !v.queue.closed {
		err = v.queue.Sync()
	}
	return errors.Join(err, v.free())
}

func (v *Vector[V]) free() error {
	var errs []error
	for i, p := range v.pieces {
		errs = append(errs, p.Free())
		if v.rooms != nil {
			v.on.returnRoom(i, (v.rooms[i].Before+v.rooms[i].After)*mem.Size[V]())
		}
	}
	v.rooms = nil
	return errors.Join(errs...)
}

// Queued checks that v and others are open vectors of one System and runs f, which queues an operation on them. One
// operation at a time is queued.
func Queued[V sparse.Value](v *Vector[V], others []*Vector[V], f func(q *Queue) error) error {
	for _, x := range append([]*Vector[V]{v}, others...) {
		switch {
		case x == nil:
			return sparse.Inputf("vector", "is nil")
		case x.on == nil:
			return sparse.Inputf("vector", "was made neither by NewVector nor by a plan")
		case x.on != v.on:
			return sparse.Inputf("vector", "belongs to another system")
		}
	}
	v.queue.mu.Lock()
	defer v.queue.mu.Unlock()
	for _, x := range append([]*Vector[V]{v}, others...) {
		if x.closed || v.queue.closed {
			return fmt.Errorf("vector: %w", kernels.ErrClosed)
		}
	}
	return f(v.queue)
}

// checkCuts returns an error if one of the vectors does not have the pieces of v.
func (v *Vector[V]) checkCuts(others []*Vector[V]) error {
	for _, x := range others {
		switch {
		case v == nil || x == nil: // Queued returns this error
		case x.Len() != v.Len():
			return sparse.Inputf("vector", "%d elements: the others have %d", x.Len(), v.Len())
		case !slices.Equal(x.cuts, v.cuts):
			return sparse.Inputf("vector", "has other pieces than the others: make all with the same plan or all with NewVector, or use Copy")
		}
	}
	return nil
}
