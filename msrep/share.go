package msrep

import (
	"errors"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/halo"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// share is the part of a plan that one device multiplies, and its memory on the device. Only the goroutine that works
// for the device uses it.
type share[V sparse.Value] struct {
	dev         kernels.Device
	host        kernels.HostMapper // dev if it uses host memory, else nil
	stream      kernels.Stream
	start, stop kernels.Event // around the kernel
	begin, end  kernels.Event // around a product of host vectors that devices exchange

	part   partition.Part // in the whole matrix
	number int            // of the device
	xCuts  []int          // the pieces of the vectors x of major products; nil if devices do not exchange elements of x
	halo   *halo.Map      // the elements of x that major products need; nil before findHalo
	packed kernels.Packed // the part in a form; nil if it has none
	doubt  float64        // of the choice of this form; see kernels.PackInfo

	// The part without a form. Products that the form does not compute use it too.
	transfer  transfer // how these arrays come to the device
	arrays    arrays   // which of them the device has
	ptr       kernels.Array[int64]
	major     kernels.Array[int32]
	minor     kernels.Array[int32]
	local     kernels.Array[int32] // the minors as local numbers of halo, for major products; empty if there is no halo
	val       kernels.Array[V]
	ptrStart  int64            // the entry of the matrix from which ptr counts
	longest   int64            // entries of the longest major, if the kernel may need it
	cooChoice kernels.PackInfo // the choice between coo and csr for a part in COO
	placing   placingTimes

	carry kernels.Array[V] // one element: the partial sum of a row that an earlier part owns
}

// placingTimes is the time that it took to bring the arrays of a part to its device, and of this time the parts for making
// local pointers and pointers of a part in COO.
type placingTimes struct{ all, pointers, cooPointers time.Duration }

// transfer is a way to bring the arrays of a part to its device.
type transfer int

const (
	inPlace       transfer = iota // the device uses the arrays of the matrix
	toNode                        // a copy on the node of the device, with the pointers of the matrix
	localByHost                   // a copy, for which the host makes local pointers: they count from the start of the part
	localByDevice                 // a copy, for which the device makes local pointers
)

// arrays states which arrays of its part a device has.
type arrays int

const (
	noArrays    arrays = iota
	coordinates        // major, minor and val
	compressed         // ptr, minor and val
)

func newShare[V sparse.Value](on *devvec.Devices, i int, part partition.Part, t transfer, xCuts []int) (*share[V], error) {
	d := on.List[i]
	s := &share[V]{dev: d, part: part, transfer: t, number: i, xCuts: xCuts}
	s.host, _ = d.(kernels.HostMapper)
	var err error
	if s.stream, err = on.NewStream(i); err != nil {
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

// findHalo finds the elements of x that major products of the part need, once, if devices exchange elements of x.
func (s *share[V]) findHalo(l *layout.Matrix[V]) (err error) {
	if s.xCuts == nil || s.halo != nil {
		return nil
	}
	s.halo, err = halo.New(l.Minor[s.part.StartIdx:s.part.EndIdx+1], l.Minors, s.xCuts, s.number)
	return err
}

// indices returns the minors of the part for major products: the local numbers of its halo if it has one. n is the number of
// elements of x. The result may be a copy.
func (s *share[V]) indices(l *layout.Matrix[V]) (idx []int32, n int, err error) {
	idx, n = l.Minor[s.part.StartIdx:s.part.EndIdx+1], l.Minors
	if err := s.findHalo(l); err != nil || s.halo == nil {
		return idx, n, err
	}
	idx, err = s.halo.Renumber(idx)
	return idx, int(s.halo.N), err
}

// placeIndices brings the minors of the part to the device, as products of the kind need them, once.
func (s *share[V]) placeIndices(l *layout.Matrix[V], byMajor bool) (err error) {
	at, idx := &s.minor, l.Minor[s.part.StartIdx:s.part.EndIdx+1]
	if byMajor {
		if err := s.findHalo(l); err != nil {
			return err
		}
		if s.halo != nil && !s.halo.Identity() {
			at = &s.local
		}
	}
	if at.Buf != nil {
		return nil
	}
	if at == &s.local {
		if idx, _, err = s.indices(l); err != nil {
			return err
		}
	}
	if *at, err = put(s, idx); err != nil || s.transfer == inPlace {
		return err
	}
	return s.stream.Sync() // idx may be a copy that is needed until then
}

// indicesFor returns the minors of the part on the device for products of a kind.
func (s *share[V]) indicesFor(byMajor bool) kernels.Array[int32] {
	if byMajor && s.local.Buf != nil {
		return s.local
	}
	return s.minor
}

// place brings the arrays of the part to the device, once; minors for products of the given kind. A packed part needs them
// only for products that its form cannot compute.
func (s *share[V]) place(l *layout.Matrix[V], byMajor bool) (err error) {
	if s.arrays != noArrays {
		return s.placeIndices(l, byMajor)
	}
	begin := time.Now()
	defer func() { s.placing.all += time.Since(begin) }()
	s.arrays = compressed
	if l.COO() {
		s.arrays = coordinates
	}
	lo, hi := s.part.StartIdx, s.part.EndIdx+1
	if err := s.placeIndices(l, byMajor); err != nil {
		return err
	}
	if l.COO() {
		s.major, err = put(s, l.Major[lo:hi])
	} else {
		err = s.placePointers(l)
	}
	if err != nil {
		return err
	}
	return s.placeValues(l)
}

// placePointers brings the pointers of the part to the device.
func (s *share[V]) placePointers(l *layout.Matrix[V]) (err error) {
	p := s.part
	ptr := l.Ptr[p.First() : p.End()+1]
	if s.transfer == inPlace || s.transfer == toNode {
		s.ptr, err = put(s, ptr)
		return err
	}
	s.ptrStart = p.StartIdx
	if s.host == nil {
		s.longest = l.LongestMajor(p.First(), p.End())
	}
	switch {
	case partition.IsLocal(l.Ptr, p):
		s.ptr, err = put(s, ptr)
		return err
	case s.transfer == localByDevice:
		return s.localPointers(ptr)
	}
	begin := time.Now()
	local, err := devvec.OnHost[int64](len(ptr))
	if err == nil {
		err = partition.LocalPtr(local, l.Ptr, p)
	}
	s.placing.pointers += time.Since(begin)
	if err == nil {
		s.ptr, err = put(s, local)
	}
	if err == nil {
		err = s.stream.Sync() // local is needed until then
	}
	return err
}

// localPointers makes the device compute the local pointers of the part from those of the matrix.
func (s *share[V]) localPointers(ptr []int64) error {
	global, err := put(s, ptr)
	if err != nil {
		return err
	}
	if err := s.stream.Sync(); err != nil { // the copies are not part of the time
		return errors.Join(err, global.Free())
	}
	begin := time.Now()
	if s.ptr, err = kernels.NewArray[int64](s.dev, global.Len); err == nil {
		err = s.stream.Launch(&kernels.LocalPtr{Src: global, Dst: s.ptr, Start: s.part.StartIdx, End: s.part.EndIdx + 1})
		err = errors.Join(err, s.stream.Sync())
	}
	s.placing.pointers += time.Since(begin)
	return errors.Join(err, global.Free())
}

// placeValues copies the values of the part to the device if its other arrays are there.
func (s *share[V]) placeValues(l *layout.Matrix[V]) (err error) {
	if s.arrays == noArrays {
		return nil
	}
	val := l.Val[s.part.StartIdx : s.part.EndIdx+1]
	if s.transfer != inPlace && s.val.Buf != nil {
		err = s.val.Write(s.stream, val)
	} else {
		s.val, err = put(s, val)
	}
	if err != nil {
		return err
	}
	return s.stream.Sync()
}

// put returns src as an array of the device: in place, or as a copy.
func put[V sparse.Value, T int32 | int64 | float32 | float64](s *share[V], src []T) (kernels.Array[T], error) {
	if s.transfer == inPlace {
		return kernels.AdoptArray(s.host, src), nil
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

// prepare brings the arrays of the part to the device if a product needs them.
func (s *share[V]) prepare(l *layout.Matrix[V], byMajor bool) error {
	if s.usesPacked(byMajor) {
		return nil
	}
	return s.place(l, byMajor)
}

// usesPacked reports whether the packed part computes major products (byMajor) or minor products.
func (s *share[V]) usesPacked(byMajor bool) bool {
	if byMajor || s.packed == nil {
		return s.packed != nil
	}
	if s.halo != nil && !s.halo.Whole() { // the form has local numbers
		return false
	}
	m, ok := s.packed.(kernels.TransposedMultiplier)
	return ok && m.MultipliesTransposed()
}

// compressed returns the part in CSR or CSC on the device, for products of a kind.
func (s *share[V]) compressed(byMajor bool) kernels.Compressed[V] {
	return kernels.Compressed[V]{Part: s.part.Shift(s.part.First(), s.ptrStart), Ptr: s.ptr, Idx: s.indicesFor(byMajor), Val: s.val, Longest: s.longest}
}

// operation returns the product of the part with x, with the result in y. x has the elements that q.xFor returns.
func (s *share[V]) operation(q *product[V], x, y kernels.Array[V], beta V, carry kernels.Array[V]) kernels.Operation {
	alpha := q.alpha
	switch {
	case q.byMajor && s.packed != nil:
		return &kernels.MajorProductPacked[V]{A: s.packed, Alpha: alpha, Beta: beta, X: x, Y: y, Carry: carry}
	case s.usesPacked(q.byMajor):
		return &kernels.MinorProductPacked[V]{A: s.packed, Alpha: alpha, Beta: beta, X: x, Y: y}
	case s.arrays == coordinates:
		a := kernels.Coordinate[V]{Part: s.part.Shift(0, s.part.StartIdx), Major: s.major, Minor: s.indicesFor(q.byMajor), Val: s.val}
		if q.byMajor {
			return &kernels.MajorProductCOO[V]{A: a, Alpha: alpha, Beta: beta, X: x, Y: y, Carry: carry}
		}
		return &kernels.MinorProductCOO[V]{A: a, Alpha: alpha, Beta: beta, X: x, Y: y}
	case q.fixed:
		return &kernels.MajorProductFixed[V]{A: s.compressed(true), Alpha: alpha, Beta: beta, X: x, Y: y, Short: q.short}
	case q.byMajor:
		return &kernels.MajorProduct[V]{A: s.compressed(true), Alpha: alpha, Beta: beta, X: x, Y: y, Carry: carry}
	}
	return &kernels.MinorProduct[V]{A: s.compressed(false), Alpha: alpha, Beta: beta, X: x, Y: y}
}

// kernel runs op the given number of times and returns the mean time, measured by two events.
func (s *share[V]) kernel(op kernels.Operation, calls int) (time.Duration, error) {
	err := s.stream.Record(s.start)
	for i := 0; i < calls && err == nil; i++ {
		err = s.stream.Launch(op)
	}
	if err == nil {
		err = s.stream.Record(s.stop)
	}
	if err == nil {
		err = s.stream.Sync()
	}
	if err != nil {
		return 0, err
	}
	took, err := s.stop.Since(s.start)
	return took / time.Duration(calls), err
}

// inOrder calls steps until one fails, and returns its error.
func inOrder(steps ...func() error) error {
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// buffers returns the device memory that the share holds, without arrays that it uses in place; elements may be nil.
func (s *share[V]) buffers() []kernels.Buffer {
	out := []kernels.Buffer{s.carry.Buf}
	if s.transfer != inPlace {
		out = append(out, s.ptr.Buf, s.major.Buf, s.minor.Buf, s.local.Buf, s.val.Buf)
	}
	if s.packed != nil {
		out = append(out, s.packed.Buffers()...)
	}
	return out
}

// close releases everything that the share holds. The share may be incomplete, or nil.
func (s *share[V]) close() error {
	if s == nil {
		return nil
	}
	errs := []error{s.ptr.Free(), s.major.Free(), s.minor.Free(), s.local.Free(), s.val.Free(), s.carry.Free()}
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
