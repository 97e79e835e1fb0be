package msrep

import (
	"errors"
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Vector is a vector that stays with the devices of a System. Each device has a piece
// of it: a run of its elements, in order. Where the devices work on host memory, as
// CPU devices do, it is one array there, and Host gives it; otherwise each piece is in
// the memory of its device, and only Write and Read bring elements from and to the
// host.
//
// Operations take vectors that are cut alike: those that NewVector makes for the same
// System and length, or those of the same plan (Plan.RowVector, Plan.ColumnVector).
// Copy takes others as well. Sums (Dot, Norm, Project, ...) are in float64, over the
// pieces in order, so that their last bits depend on how vectors are cut, also where
// a plan is Deterministic: a method of one's own that is to have the same bits on any
// devices keeps its vectors on the host. Methods may be called from any goroutine; operations on
// the vectors of one System are done in the order of the calls. On devices that work
// while the host goes on, only operations that give a number or bring elements to the
// host wait; the errors of others come with those.
//
// An operation that fails leaves the vectors that it writes unspecified.
type Vector[V sparse.Value] struct {
	sys     *System
	streams *vectorStreams
	cuts    []int // device i has the elements [cuts[i], cuts[i+1])
	pieces  []kernels.Array[V]
	host    []V // everyDevice elements, where the devices work on host memory
	closed  bool
}

// NewVector makes a vector of n zeros, in equal pieces. Products of a plan are
// fastest with the vectors that the plan makes.
func NewVector[V sparse.Value](sys *System, n int) (v *Vector[V], err error) {
	defer rescue(&err)
	if sys == nil {
		return nil, sparse.Inputf("system", "is nil")
	}
	if n < 0 || n > sparse.MaxDim {
		return nil, sparse.Inputf("vector", "%d elements: use 0 to %d", n, sparse.MaxDim)
	}
	return newVector[V](sys, evenCuts(n, max(len(sys.devices), 1)))
}

func evenCuts(n, parts int) []int {
	cuts := make([]int, parts+1)
	for i := range cuts {
		cuts[i] = int(par.Cut(int64(n), parts, i))
	}
	return cuts
}

// newVector makes a vector that is cut so.
func newVector[V sparse.Value](sys *System, cuts []int) (*Vector[V], error) {
	l, err := sys.vectorStreams()
	if err != nil {
		return nil, err
	}
	l.mu.Lock() // Close of the System waits until it knows the vector
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("system: %w", ErrClosed)
	}
	v := &Vector[V]{sys: sys, streams: l, cuts: cuts, pieces: make([]kernels.Array[V], len(sys.devices))}
	if sys.onHost() {
		if v.host, err = hostMemory[V](sys, v.Len()); err != nil {
			return nil, err
		}
		for i, d := range sys.devices {
			v.pieces[i] = kernels.AdoptArray(d.(kernels.HostMapper), v.host[cuts[i]:cuts[i+1]])
		}
	}
	err = l.eachDevice(func(i int) (err error) {
		if v.host == nil {
			v.pieces[i], err = kernels.NewArray[V](sys.devices[i], int64(cuts[i+1]-cuts[i]))
		}
		return err
	})
	if err == nil {
		err = sys.enter(v)
	}
	if err != nil {
		return nil, errors.Join(err, v.free())
	}
	return v, nil
}

// hostMemory is zeros, whose pages go where they are used first.
func hostMemory[V sparse.Value](sys *System, n int) ([]V, error) {
	info := sys.devices[0].Info()
	if need := int64(n) * mem.Size[V](); info.Memory > 0 && need > info.Memory {
		return nil, &kernels.DeviceError{Device: info.ID, Call: "alloc", Bytes: need, Err: kernels.ErrOutOfMemory}
	}
	return hostVector[V](n)
}

// hostVector makes n zeros in host memory, where there is room for them.
func hostVector[T mem.Elem](n int) ([]T, error) {
	need := int64(n) * mem.Size[T]()
	if have, ok := mem.Fits(need); !ok {
		return nil, &sparse.InputError{Subject: "vector", Err: kernels.ErrOutOfMemory,
			Msg: fmt.Sprintf("%d elements take %d bytes of host memory, %d are available", n, need, have)}
	}
	return make([]T, n), nil
}

// onHost reports whether the devices, which are of one kind, work on host memory.
func (s *System) onHost() bool {
	if len(s.devices) == 0 {
		return true
	}
	_, ok := s.devices[0].(kernels.HostMapper)
	return ok
}

// Len is the number of elements, 0 for nil.
func (v *Vector[V]) Len() int {
	if v == nil || len(v.cuts) == 0 {
		return 0
	}
	return v.cuts[len(v.cuts)-1]
}

// Host is the elements themselves, in host memory, or nil where the devices have
// memory of their own. No operation on v may be under way while they are used, and
// after Close they mean nothing.
func (v *Vector[V]) Host() []V {
	if v == nil {
		return nil
	}
	return v.host
}

// Bytes is the memory that the vector takes, wherever that is.
func (v *Vector[V]) Bytes() int64 { return int64(v.Len()) * mem.Size[V]() }

// Write copies src, which has as many elements, to the vector.
func (v *Vector[V]) Write(src []V) error {
	return v.transfer("src", src, func(s kernels.Stream, piece kernels.Array[V], part []V) error { return piece.Write(s, part) })
}

// Read copies the vector to dst, which has as many elements.
func (v *Vector[V]) Read(dst []V) error {
	return v.transfer("dst", dst, func(s kernels.Stream, piece kernels.Array[V], part []V) error { return piece.Read(s, part) })
}

// transfer brings every piece from or to the host, and waits.
func (v *Vector[V]) transfer(name string, all []V, f func(s kernels.Stream, piece kernels.Array[V], part []V) error) (err error) {
	defer rescue(&err)
	if v != nil && len(all) != v.Len() {
		return sparse.Inputf(name, "%d elements: the vector has %d", len(all), v.Len())
	}
	return v.do(nil, func(l *vectorStreams) error {
		return l.eachDevice(func(i int) error {
			if v.pieces[i].Len == 0 { // it may still have failed at what others have got from it
				return l.streams[i].Sync()
			}
			return errors.Join(f(l.streams[i], v.pieces[i], all[v.cuts[i]:v.cuts[i+1]]), l.streams[i].Sync())
		})
	})
}

// Close gives the memory back, after what is under way. It may be called again.
func (v *Vector[V]) Close() error {
	if v == nil || v.sys == nil {
		return nil
	}
	v.streams.mu.Lock()
	defer v.streams.mu.Unlock()
	if v.closed {
		return nil
	}
	v.closed = true
	defer v.sys.leave(v)
	var err error
	if !v.streams.closed {
		err = v.streams.sync()
	}
	return errors.Join(err, v.free())
}

func (v *Vector[V]) free() error {
	var errs []error
	for _, p := range v.pieces {
		errs = append(errs, p.Free())
	}
	return errors.Join(errs...)
}

// do runs f when the vectors can be used, one operation after the other.
func (v *Vector[V]) do(others []*Vector[V], f func(l *vectorStreams) error) error {
	for _, x := range append([]*Vector[V]{v}, others...) {
		switch {
		case x == nil:
			return sparse.Inputf("vector", "is nil")
		case x.sys == nil:
			return sparse.Inputf("vector", "was made neither by NewVector nor by a plan")
		case x.sys != v.sys:
			return sparse.Inputf("vector", "of another system")
		}
	}
	v.streams.mu.Lock()
	defer v.streams.mu.Unlock()
	for _, x := range append([]*Vector[V]{v}, others...) {
		if x.closed || v.streams.closed {
			return fmt.Errorf("vector: %w", ErrClosed)
		}
	}
	return f(v.streams)
}

// alike says that the vectors are not cut like v.
func (v *Vector[V]) alike(others []*Vector[V]) error {
	for _, x := range others {
		switch {
		case v == nil || x == nil: // do says so
		case x.Len() != v.Len():
			return sparse.Inputf("vector", "%d elements: the others have %d", x.Len(), v.Len())
		case !slices.Equal(x.cuts, v.cuts):
			return sparse.Inputf("vector", "in other pieces than the others: make all by the same plan, or all by NewVector, or Copy it")
		}
	}
	return nil
}
