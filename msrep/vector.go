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

// Vector is a vector that stays in the memory of the devices of a System. Each device has one piece of it, a range of
// consecutive elements. On devices that use host memory, such as CPU devices, the vector is one array, which Host
// returns. Otherwise each piece is in the memory of its device, and only Write and Read copy elements from and to the
// host.
//
// The vectors of an operation must have the same pieces: make all of them with NewVector for the same System and
// length, or all with the same plan (Plan.RowVector, Plan.ColumnVector). Copy accepts any pieces.
//
// Sums (Dot, Norm, Project, ...) are computed in float64 and added over the pieces in order. Their last bits depend
// on the pieces, also if a plan is Deterministic. For the same bits on any devices, keep the vectors of your method
// on the host.
//
// Methods may be called from any goroutine. Operations on the vectors of one System run in the order of the calls. On
// devices that work asynchronously, only operations that return a number or copy elements to or from the host wait;
// they also return the errors of earlier operations.
//
// An operation that fails leaves the vectors that it writes unspecified.
type Vector[V sparse.Value] struct {
	sys     *System
	streams *vectorStreams
	cuts    []int // device i has the elements [cuts[i], cuts[i+1])
	pieces  []kernels.Array[V]
	host    []V // all elements, if the devices use host memory
	closed  bool
}

// NewVector returns a vector of n zeros in equal pieces. Products of a plan are fastest with vectors made by the plan
// (RowVector, ColumnVector).
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

// newVector returns a vector of zeros; device i has the elements [cuts[i], cuts[i+1]).
func newVector[V sparse.Value](sys *System, cuts []int) (*Vector[V], error) {
	l, err := sys.vectorStreams()
	if err != nil {
		return nil, err
	}
	l.mu.Lock() // Close of the System waits until the vector is registered
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
		err = sys.register(v)
	}
	if err != nil {
		return nil, errors.Join(err, v.free())
	}
	return v, nil
}

// hostMemory returns n zeros for devices that use host memory. The first use of a page decides its node.
func hostMemory[V sparse.Value](sys *System, n int) ([]V, error) {
	info := sys.devices[0].Info()
	if need := int64(n) * mem.Size[V](); info.Memory > 0 && need > info.Memory {
		return nil, &kernels.DeviceError{Device: info.ID, Call: "alloc", Bytes: need, Err: kernels.ErrOutOfMemory}
	}
	return hostVector[V](n)
}

// hostVector returns n zeros in host memory, or an error if there is not enough memory.
func hostVector[T mem.Elem](n int) ([]T, error) {
	need := int64(n) * mem.Size[T]()
	if have, ok := mem.Fits(need); !ok {
		return nil, &sparse.InputError{Subject: "vector", Err: kernels.ErrOutOfMemory,
			Msg: fmt.Sprintf("%d elements take %d bytes of host memory, %d are available", n, need, have)}
	}
	return make([]T, n), nil
}

// onHost reports whether the devices use host memory. All devices of a System are of one kind.
func (s *System) onHost() bool {
	if len(s.devices) == 0 {
		return true
	}
	_, ok := s.devices[0].(kernels.HostMapper)
	return ok
}

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
func (v *Vector[V]) Bytes() int64 { return int64(v.Len()) * mem.Size[V]() }

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
	defer rescue(&err)
	if v != nil && len(all) != v.Len() {
		return sparse.Inputf(name, "%d elements: the vector has %d", len(all), v.Len())
	}
	return v.withStreams(nil, func(l *vectorStreams) error {
		return l.eachDevice(func(i int) error {
			if v.pieces[i].Len == 0 { // for the error of an earlier operation on this stream
				return l.streams[i].Sync()
			}
			return errors.Join(f(l.streams[i], v.pieces[i], all[v.cuts[i]:v.cuts[i+1]]), l.streams[i].Sync())
		})
	})
}

// Close waits for unfinished operations and frees the memory. It may be called again.
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
	defer v.sys.unregister(v)
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

// withStreams checks that v and others are open vectors of one System and runs f, one operation at a time.
func (v *Vector[V]) withStreams(others []*Vector[V], f func(l *vectorStreams) error) error {
	for _, x := range append([]*Vector[V]{v}, others...) {
		switch {
		case x == nil:
			return sparse.Inputf("vector", "is nil")
		case x.sys == nil:
			return sparse.Inputf("vector", "was made neither by NewVector nor by a plan")
		case x.sys != v.sys:
			return sparse.Inputf("vector", "belongs to another system")
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

// checkCuts returns an error if one of the vectors does not have the pieces of v.
func (v *Vector[V]) checkCuts(others []*Vector[V]) error {
	for _, x := range others {
		switch {
		case v == nil || x == nil: // withStreams returns this error
		case x.Len() != v.Len():
			return sparse.Inputf("vector", "%d elements: the others have %d", x.Len(), v.Len())
		case !slices.Equal(x.cuts, v.cuts):
			return sparse.Inputf("vector", "has other pieces than the others: make all with the same plan or all with NewVector, or use Copy")
		}
	}
	return nil
}
