package msrep

import "github.com/msrep-go/msrep/kernels"

// prepare copies the arrays of the part that the kernel needs to the device, if they are not there.
func (s *share[V]) prepare(l layout[V], byMajor bool) error {
	if s.usesPacked(byMajor) {
		return nil
	}
	if err := s.hostPointers(l); err != nil {
		return err
	}
	if err := s.place(l); err != nil {
		return err
	}
	return s.devicePointers()
}

// inPlaceVectors returns the vectors of a device that uses x and y of the caller in place. If several devices compute
// partial results, y is a vector of the device.
func (r *run[V]) inPlaceVectors(s *share[V]) (*vectors[V], error) {
	d := s.inPlace
	x := kernels.AdoptArray(d, r.xFor(s))
	if s.nodeX != nil {
		x = *s.nodeX
	}
	if r.writesToY() {
		y := r.yFor(s)
		s.current = vectors[V]{x: x, y: kernels.AdoptArray(d, y), host: y}
		return &s.current, nil
	}
	kept := s.vec[r.byMajor]
	if kept == nil {
		y, err := kernels.NewArray[V](s.dev, int64(r.plan.lay.minors))
		if err != nil {
			return nil, err
		}
		kept = &vectors[V]{y: y}
		s.vec[r.byMajor] = kept
		if kept.host, err = kernels.View(d, y); err != nil {
			return nil, err
		}
	}
	s.current = vectors[V]{x: x, y: kept.y, host: kept.host}
	return &s.current, nil
}

// deviceVectors returns the vectors of the device and the host memory that receives its result. The first product of
// each kind allocates them.
func (r *run[V]) deviceVectors(s *share[V]) (*vectors[V], error) {
	if v := s.vec[r.byMajor]; v != nil {
		return v, nil
	}
	v := &vectors[V]{}
	s.vec[r.byMajor] = v // before it is complete, so that close frees its arrays
	var err error
	if v.x, err = kernels.NewArray[V](s.dev, int64(len(r.xFor(s)))); err != nil {
		delete(s.vec, r.byMajor)
		return nil, err
	}
	n := r.plan.lay.minors
	if r.byMajor {
		n = s.part.Majors()
	}
	if v.host, err = hostVector[V](n); err != nil {
		return nil, err
	}
	v.y, err = kernels.NewArray[V](s.dev, int64(n))
	return v, err
}

// writesToY reports whether devices write their results, with beta, directly to y: each device to the rows that it
// owns, or a single device to all of y.
func (r *run[V]) writesToY() bool {
	return r.plan.opt.Variant.Strategy == Optimized && (r.byMajor || len(r.plan.shares) == 1)
}

// yFor returns the elements of y that a device writes if writesToY holds.
func (r *run[V]) yFor(s *share[V]) []V {
	if !r.byMajor {
		return r.y
	}
	return r.y[s.part.OwnFirst:s.part.OwnEnd]
}

// xFor returns the elements of x that a device reads: all, or those of its majors.
func (r *run[V]) xFor(s *share[V]) []V {
	if r.byMajor || r.plan.lay.ptr == nil {
		return r.x
	}
	return r.x[s.part.First():s.part.End()]
}

// operation returns the kernel operation for a device. If partial results are merged later, beta is applied then.
func (r *run[V]) operation(s *share[V], v *vectors[V], carry kernels.Array[V]) kernels.Operation {
	beta := r.beta
	if !r.writesToY() {
		beta = 0
	}
	if s.asCSR {
		return r.compressedOperation(s, v, carry, beta)
	}
	if r.plan.lay.ptr == nil {
		a := kernels.Coordinate[V]{Part: s.part.Shift(0, s.part.StartIdx), Major: s.major, Minor: s.minor, Val: s.val}
		if r.byMajor {
			return &kernels.MajorProductCOO[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y, Carry: carry}
		}
		return &kernels.MinorProductCOO[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y}
	}
	if r.byMajor && s.packed != nil {
		return &kernels.MajorProductPacked[V]{A: s.packed, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y, Carry: carry}
	}
	if s.usesPacked(r.byMajor) {
		return &kernels.MinorProductPacked[V]{A: s.packed, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y}
	}
	entries := int64(0) // the global pointers count from the start of the matrix
	if s.inPlace == nil {
		entries = s.part.StartIdx
	}
	a := kernels.Compressed[V]{Part: s.part.Shift(s.part.First(), entries), Ptr: s.ptr, Idx: s.minor, Val: s.val, Longest: s.longest}
	if r.plan.opt.Deterministic {
		return &kernels.MajorProductFixed[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y, Short: r.plan.short}
	}
	if r.byMajor {
		return &kernels.MajorProduct[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y, Carry: carry}
	}
	return &kernels.MinorProduct[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y}
}

// compressedOperation is operation for a part in COO whose device has made pointers. In minor products, v.x has an
// element for each major of the matrix, as for parts in COO.
func (r *run[V]) compressedOperation(s *share[V], v *vectors[V], carry kernels.Array[V], beta V) kernels.Operation {
	p := s.part
	a := kernels.Compressed[V]{Part: p.Shift(p.First(), p.StartIdx), Ptr: s.ptr, Idx: s.minor, Val: s.val, Longest: s.longest}
	if r.byMajor {
		return &kernels.MajorProduct[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y, Carry: carry}
	}
	return &kernels.MinorProduct[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x.Sub(int64(p.First()), int64(p.End())), Y: v.y}
}
