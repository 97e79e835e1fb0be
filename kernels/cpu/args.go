package cpu

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// views opens arrays as slices, holds their memory until close, and keeps the first error.
type views struct {
	dev  *Device
	err  error
	held [6]*buffer // only SumPartials has more arrays
	n    int        // number of entries in held
	more []*buffer
}

func newViews(d *Device) *views { return &views{dev: d} }

// hold returns the memory of a buffer, which stays valid until close.
func (v *views) hold(b kernels.Buffer) ([]byte, error) {
	m, err := v.dev.View(b)
	if err != nil {
		return nil, err
	}
	c := b.(*buffer)
	if !c.hold() {
		return nil, errFreed
	}
	if v.n == len(v.held) {
		v.more = append(v.more, c)
		return m, nil
	}
	v.held[v.n] = c
	v.n++
	return m, nil
}

// close releases the memory. A buffer that its owner freed meanwhile is freed here; close adds a failure of that to
// *err.
func (v *views) close(err *error) {
	for _, held := range [][]*buffer{v.held[:v.n], v.more} {
		for _, b := range held {
			*err = errors.Join(*err, b.release())
		}
	}
}

// view opens an array, which must have n elements.
func view[T mem.Elem](v *views, name string, a kernels.Array[T], n int64) []T {
	if v.err != nil {
		return nil
	}
	if a.Len != n {
		v.err = fmt.Errorf("%w: %s has %d elements, it needs %d", kernels.ErrArgument, name, a.Len, n)
		return nil
	}
	if a.Buf != nil {
		if _, err := v.hold(a.Buf); err != nil {
			v.err = fmt.Errorf("%s: %w", name, err)
			return nil
		}
	}
	s, err := kernels.View(v.dev, a)
	if err != nil {
		v.err = fmt.Errorf("%s: %w", name, err)
	}
	return s
}

// compressed is kernels.Compressed as slices.
type compressed[V sparse.Value] struct {
	part partition.Part
	ptr  []int64
	idx  []int32
	val  []V
}

func viewCompressed[V sparse.Value](v *views, a kernels.Compressed[V]) compressed[V] {
	p := a.Part
	if v.err == nil && (p.First() != 0 || p.Majors() < 0 || p.NNZ() < 0) {
		v.err = fmt.Errorf("%w: part %+v does not count from its first row", kernels.ErrArgument, p)
	}
	return compressed[V]{
		part: p,
		ptr:  view(v, "ptr", a.Ptr, int64(p.Majors())+1),
		idx:  view(v, "idx", a.Idx, p.NNZ()),
		val:  view(v, "val", a.Val, p.NNZ()),
	}
}

// split cuts the part among the workers of the device.
func (a compressed[V]) split(d *Device) ([]partition.Part, error) {
	n := d.workers(a.part)
	if n == 1 {
		return []partition.Part{a.part}, nil
	}
	return partition.Within(a.ptr, a.part, n)
}

// coordinate is kernels.Coordinate as slices.
type coordinate[V sparse.Value] struct {
	part         partition.Part
	major, minor []int32
	val          []V
}

func viewCoordinate[V sparse.Value](v *views, a kernels.Coordinate[V]) coordinate[V] {
	p := a.Part
	if v.err == nil && (p.StartIdx != 0 || p.Majors() < 0 || p.NNZ() < 0) {
		v.err = fmt.Errorf("%w: part %+v does not count from its first entry", kernels.ErrArgument, p)
	}
	return coordinate[V]{
		part:  p,
		major: view(v, "major", a.Major, p.NNZ()),
		minor: view(v, "minor", a.Minor, p.NNZ()),
		val:   view(v, "val", a.Val, p.NNZ()),
	}
}

func (a coordinate[V]) split(d *Device) ([]partition.Part, error) {
	n := d.workers(a.part)
	if n == 1 {
		return []partition.Part{a.part}, nil
	}
	return partition.WithinCOO(a.major, a.part, n)
}
