package msrep

import (
	"errors"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// splitPart is one device's part of a plan. Everything in it belongs to the goroutine
// that serves the device.
type share[V sparse.Value] struct {
	dev         kernels.Device
	inPlace     kernels.HostMapper // set when the device works on vectors in place, and on the matrix unless placed
	placed      bool               // the device has a copy of its part of the matrix
	ownPtr      bool               // the device makes its own pointers, of those of the matrix
	stream      kernels.Stream
	start, stop kernels.Event // of the kernel
	begin, end  kernels.Event // of a product of host vectors that devices make among themselves

	part    partition.Part       // of the whole matrix
	longest int64                // entries of its longest major, where the device may ask
	local   []int64              // ptr on the host, where that makes it, until the device has it
	window  kernels.Array[int64] // pointers of the matrix, until the device has made ptr of them
	ptr     kernels.Array[int64]
	major   kernels.Array[int32]
	minor   kernels.Array[int32]
	val     kernels.Array[V]
	carry   kernels.Array[V] // one element: the partial sum of a row that an earlier part owns

	packed  kernels.Packed   // the part in a form of the device; nil where it has none
	doubt   float64          // of that form, when it was chosen
	present bool             // the arrays above are on the device
	asCSR   bool             // the part is in COO, but has ptr instead of major
	chosen  kernels.PackInfo // what was measured of a part in COO, and kept

	host      kernels.HostProduct[V]       // the product under way where it is direct
	vec       map[bool]*vectors[V]         // by layout.byMajor
	here      vectors[V]                   // of the product under way, where the device works in place
	nodeX     *kernels.Array[V]            // x in memory of the node, for this product; nil for the caller's
	exchanges map[bool]*exchangeBuffers[V] // by layout.byMajor: of products that devices make among themselves
}

// vectors is a device's own x and y for one kind of product, and what comes back.
type vectors[V sparse.Value] struct {
	x, y kernels.Array[V]
	host []V // y on the host: the memory of y itself where the device works in place
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

// place brings the part's structure and values to the device, once, but for pointers that
// the device makes. A packed part needs them only for products that its form does not make.
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
		if s.local != nil {
			ptr = s.local
		} else if s.ownPtr && !partition.IsLocal(l.ptr, p) {
			to = &s.window
		}
		if *to, err = put(s, ptr); err != nil {
			return err
		}
	}
	err = s.placeValues(l)
	s.local = nil
	return err
}

// hostPointers makes the part's own pointers on the host, where the device neither works
// in place nor makes them itself.
func (s *share[V]) hostPointers(l layout[V]) (err error) {
	if s.present || l.ptr == nil || s.inPlace != nil || s.ownPtr || partition.IsLocal(l.ptr, s.part) {
		return nil
	}
	if s.local, err = hostVector[int64](s.part.Majors() + 1); err != nil {
		return err
	}
	return partition.LocalPtr(s.local, l.ptr, s.part)
}

// devicePointers has the device make the part's own pointers, where they are not those of
// the matrix. These are freed before vectors of products need room.
func (s *share[V]) devicePointers() (err error) {
	if s.window.Buf == nil {
		return nil
	}
	if s.ptr.Buf == nil {
		if s.ptr, err = kernels.NewArray[int64](s.dev, s.window.Len); err != nil {
			return err
		}
	}
	if err := s.stream.Launch(&kernels.LocalPtr{Src: s.window, Dst: s.ptr, Start: s.part.StartIdx, End: s.part.EndIdx + 1}); err != nil {
		return err
	}
	err = errors.Join(s.stream.Sync(), s.window.Free())
	s.window = kernels.Array[int64]{}
	return err
}

// placeValues brings the part's values to the device, for the first time or anew.
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

// put makes an array of src: in place, or as a copy on the device.
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

// packs reports whether products that gather, or those that scatter, are made by what the
// device made of the part. The first one that is not brings the part there as it is.
func (s *share[V]) packs(byMajor bool) bool {
	if byMajor || s.packed == nil {
		return s.packed != nil
	}
	m, ok := s.packed.(kernels.TransposedMultiplier)
	return ok && m.MultipliesTransposed()
}

// buffers is the device memory that the share holds, without what it uses in
// place.
func (s *share[V]) buffers() (out []kernels.Buffer) {
	bufs := []kernels.Buffer{s.carry.Buf}
	for _, d := range s.exchanges {
		bufs = append(bufs, d.buffers()...)
	}
	for _, v := range s.vec {
		bufs = append(bufs, v.x.Buf, v.y.Buf)
	}
	if s.inPlace == nil || s.placed {
		bufs = append(bufs, s.window.Buf, s.ptr.Buf, s.major.Buf, s.minor.Buf, s.val.Buf)
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

// kernel runs op between the two events and gives its time.
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

// close releases all that the share holds, whatever of it was made.
func (s *share[V]) close() error {
	errs := []error{s.window.Free(), s.ptr.Free(), s.major.Free(), s.minor.Free(), s.val.Free(), s.carry.Free()}
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
