package msrep

import (
	"errors"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// share is the part of a plan that one device multiplies, with its buffers. Only the goroutine that works for the
// device uses it.
type share[V sparse.Value] struct {
	dev         kernels.Device
	inPlace     kernels.HostMapper // set if the device uses vectors in place, and the matrix too unless placed
	placed      bool               // the device has a copy of its part of the matrix
	ownPtr      bool               // the device makes local pointers from those of the matrix
	stream      kernels.Stream
	start, stop kernels.Event // around the kernel
	begin, end  kernels.Event // around a product of host vectors that devices exchange

	part      partition.Part       // in the whole matrix
	longest   int64                // entries of its longest major, if the kernel may need it
	localPtr  []int64              // local pointers that the host made, until they are copied to ptr
	globalPtr kernels.Array[int64] // pointers of the matrix, until the device has made ptr from them
	ptr       kernels.Array[int64]
	major     kernels.Array[int32]
	minor     kernels.Array[int32]
	val       kernels.Array[V]
	carry     kernels.Array[V] // one element: the partial sum of a row that an earlier part owns

	packed  kernels.Packed   // the part in a form; nil if it has none
	doubt   float64          // of the choice of this form; see kernels.PackInfo
	present bool             // the arrays above are on the device
	asCSR   bool             // the part is in COO, but has ptr instead of major
	cooInfo kernels.PackInfo // the choice between coo and csr for a part in COO

	host      kernels.HostProduct[V]       // the product in progress, if it is direct
	vec       map[bool]*vectors[V]         // by layout.byMajor
	current   vectors[V]                   // of the product in progress, if the device uses host memory
	nodeX     *kernels.Array[V]            // copy of x on the node in this product; nil if x is read in place
	exchanges map[bool]*exchangeBuffers[V] // by layout.byMajor
}

// vectors holds the x and y of a device for one kind of product, and its result.
type vectors[V sparse.Value] struct {
	x, y kernels.Array[V]
	host []V // y in host memory: the memory of y itself if the device uses host memory
}

func newShare[V sparse.Value](d kernels.Device, optimized bool) (*share[V], error) {
	s := &share[V]{dev: d, vec: map[bool]*vectors[V]{}, exchanges: map[bool]*exchangeBuffers[V]{}}
	if optimized {
		s.inPlace, _ = d.(kernels.HostMapper)
		s.ownPtr = s.inPlace == nil
	}
	var err error
	if s.stream, err = d.NewStream(); err != nil {
		return s, err
	}
	for _, e := range s.events() {
		if *e, err = d.NewEvent(); err != nil {
			return s, err
		}
	}
	s.carry, err = kernels.NewArray[V](d, 1)
	return s, err
}

func (s *share[V]) events() []*kernels.Event {
	return []*kernels.Event{&s.start, &s.stop, &s.begin, &s.end}
}

// place copies the structure and the values of the part to the device, once, without pointers that the device makes
// itself. A packed part needs them only for products that its form cannot compute.
func (s *share[V]) place(l layout[V]) error {
	if s.present {
		return nil
	}
	s.present = true
	p := s.part
	lo, hi := p.StartIdx, p.EndIdx+1
	var err error
	if s.minor, err = put(s, l.minor[lo:hi]); err != nil {
		return err
	}
	if l.ptr == nil {
		if s.major, err = put(s, l.major[lo:hi]); err != nil {
			return err
		}
	} else {
		to, ptr := &s.ptr, l.ptr[p.First():p.End()+1]
		if s.localPtr != nil {
			ptr = s.localPtr
		} else if s.ownPtr && !partition.IsLocal(l.ptr, p) {
			to = &s.globalPtr
		}
		if *to, err = put(s, ptr); err != nil {
			return err
		}
	}
	err = s.placeValues(l)
	s.localPtr = nil
	return err
}

// hostPointers makes the local pointers of the part on the host, unless the device uses the matrix in place or makes
// the pointers itself.
func (s *share[V]) hostPointers(l layout[V]) (err error) {
	if s.present || l.ptr == nil || s.inPlace != nil || s.ownPtr || partition.IsLocal(l.ptr, s.part) {
		return nil
	}
	if s.localPtr, err = hostVector[int64](s.part.Majors() + 1); err != nil {
		return err
	}
	return partition.LocalPtr(s.localPtr, l.ptr, s.part)
}

// devicePointers makes the device compute the local pointers of the part, if they differ from those of the matrix. It
// frees the latter, so that the memory is available for vectors.
func (s *share[V]) devicePointers() (err error) {
	if s.globalPtr.Buf == nil {
		return nil
	}
	if s.ptr.Buf == nil {
		if s.ptr, err = kernels.NewArray[int64](s.dev, s.globalPtr.Len); err != nil {
			return err
		}
	}
	if err := s.stream.Launch(&kernels.LocalPtr{Src: s.globalPtr, Dst: s.ptr, Start: s.part.StartIdx, End: s.part.EndIdx + 1}); err != nil {
		return err
	}
	err = errors.Join(s.stream.Sync(), s.globalPtr.Free())
	s.globalPtr = kernels.Array[int64]{}
	return err
}

// placeValues copies the values of the part to the device if its other arrays are there.
func (s *share[V]) placeValues(l layout[V]) error {
	if !s.present {
		return nil
	}
	val := l.val[s.part.StartIdx : s.part.EndIdx+1]
	var err error
	switch {
	case s.inPlace != nil && !s.placed:
		s.val = kernels.AdoptArray(s.inPlace, val)
	case s.val.Buf != nil:
		err = s.val.Write(s.stream, val)
	default:
		s.val, err = put(s, val)
	}
	if err != nil {
		return err
	}
	return s.stream.Sync()
}

// put returns src as an array of the device: in place, or as a copy.
func put[V sparse.Value, T int32 | int64 | float32 | float64](s *share[V], src []T) (kernels.Array[T], error) {
	if s.inPlace != nil && !s.placed {
		return kernels.AdoptArray(s.inPlace, src), nil
	}
	a, err := kernels.NewArray[T](s.dev, int64(len(src)))
	if err != nil {
		return a, err
	}
	if err := a.Write(s.stream, src); err != nil {
		return a, errors.Join(err, a.Free())
	}
	return a, nil
}

// usesPacked reports whether the packed part computes major products (byMajor) or minor products. The first product
// that it does not compute copies the unpacked part to the device.
func (s *share[V]) usesPacked(byMajor bool) bool {
	if byMajor || s.packed == nil {
		return s.packed != nil
	}
	m, ok := s.packed.(kernels.TransposedMultiplier)
	return ok && m.MultipliesTransposed()
}

// buffers returns the device memory that the share holds, without arrays that it uses in place.
func (s *share[V]) buffers() (out []kernels.Buffer) {
	bufs := []kernels.Buffer{s.carry.Buf}
	for _, d := range s.exchanges {
		bufs = append(bufs, d.buffers()...)
	}
	for _, v := range s.vec {
		bufs = append(bufs, v.x.Buf, v.y.Buf)
	}
	if s.inPlace == nil || s.placed {
		bufs = append(bufs, s.globalPtr.Buf, s.ptr.Buf, s.major.Buf, s.minor.Buf, s.val.Buf)
	}
	if s.packed != nil {
		bufs = append(bufs, s.packed.Buffers()...)
	}
	for _, b := range bufs {
		if b != nil {
			out = append(out, b)
		}
	}
	return out
}

// kernel runs op and returns its time, measured by two events.
func (s *share[V]) kernel(op kernels.Operation) (time.Duration, error) {
	if err := s.stream.Record(s.start); err != nil {
		return 0, err
	}
	if err := s.stream.Launch(op); err != nil {
		return 0, err
	}
	if err := s.stream.Record(s.stop); err != nil {
		return 0, err
	}
	if err := s.stream.Sync(); err != nil {
		return 0, err
	}
	return s.stop.Since(s.start)
}

// close releases everything that the share holds. The share may be incomplete.
func (s *share[V]) close() error {
	errs := []error{s.globalPtr.Free(), s.ptr.Free(), s.major.Free(), s.minor.Free(), s.val.Free(), s.carry.Free()}
	for _, d := range s.exchanges {
		errs = append(errs, d.close())
	}
	for _, v := range s.vec {
		errs = append(errs, v.x.Free(), v.y.Free())
	}
	if s.packed != nil {
		errs = append(errs, s.packed.Free())
	}
	for _, e := range s.events() {
		if *e != nil {
			errs = append(errs, (*e).Close())
		}
	}
	if s.stream != nil {
		errs = append(errs, s.stream.Close())
	}
	return errors.Join(errs...)
}
