package msrep

import "github.com/msrep-go/msrep/kernels"

// prepare brings what of the part the kernel needs to the device.
func (s *share[V]) prepare(l layout[V], byMajor bool) error {
	if s.packs(byMajor) {
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

// inPlace makes vectors of the caller's own memory, except for partial results
// of several devices.
func (r *run[V]) inPlace(s *share[V]) (*vectors[V], error) {
	d := s.inPlace
	x := kernels.AdoptArray(d, r.xFor(s))
	if s.nodeX != nil {
		x = *s.nodeX
	}
	if r.straight() {
		y := r.yFor(s)
		s.here = vectors[V]{x: x, y: kernels.AdoptArray(d, y), host: y}
		return &s.here, nil
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
	s.here = vectors[V]{x: x, y: kept.y, host: kept.host}
	return &s.here, nil
}

// copies gives the device's own vectors, allocated by its first product of this
// kind, and room on the host for what comes back.
func (r *run[V]) copies(s *share[V]) (*vectors[V], error) {
	if v := s.vec[r.byMajor]; v != nil {
		return v, nil
	}
	v := &vectors[V]{}
	s.vec[r.byMajor] = v // so that close finds what was made of it
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

// straight reports whether devices write their results, with beta, to y itself:
// to the rows that each owns, or to all of y where there is one device only.
func (r *run[V]) straight() bool {
	return r.plan.opt.Variant.Strategy == Optimized && (r.byMajor || len(r.plan.shares) == 1)
}

// yFor is what of y a device writes when it writes straight to y.
func (r *run[V]) yFor(s *share[V]) []V {
	if !r.byMajor {
		return r.y
	}
	return r.y[s.part.OwnFirst:s.part.OwnEnd]
}

// xFor is what of x a device reads: all of it, or the elements of its majors.
func (r *run[V]) xFor(s *share[V]) []V {
	if r.byMajor || r.plan.lay.ptr == nil {
		return r.x
	}
	return r.x[s.part.First():s.part.End()]
}

// op is the kernel call for a device. Where the host adds partial results, beta
// is left to it.
func (r *run[V]) op(s *share[V], v *vectors[V], carry kernels.Array[V]) kernels.Operation {
	beta := r.beta
	if !r.straight() {
		beta = 0
	}
	if s.asCSR {
		return r.compressedOp(s, v, carry, beta)
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
	if s.packs(r.byMajor) {
		return &kernels.MinorProductPacked[V]{A: s.packed, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y}
	}
	entries := int64(0) // a window of the global pointers counts from the start of the matrix
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

// compressedOp is op for a part in COO that the device has made pointers for. x of products that
// scatter has an element for each major of the matrix, as those of parts in COO do.
func (r *run[V]) compressedOp(s *share[V], v *vectors[V], carry kernels.Array[V], beta V) kernels.Operation {
	p := s.part
	a := kernels.Compressed[V]{Part: p.Shift(p.First(), p.StartIdx), Ptr: s.ptr, Idx: s.minor, Val: s.val, Longest: s.longest}
	if r.byMajor {
		return &kernels.MajorProduct[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x, Y: v.y, Carry: carry}
	}
	return &kernels.MinorProduct[V]{A: a, Alpha: r.alpha, Beta: beta, X: v.x.Sub(int64(p.First()), int64(p.End())), Y: v.y}
}
