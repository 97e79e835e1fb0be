package cpms

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// Segmented stores rows of a matrix with their values in segments, or without values, for products
// with vectors of which only the heads are stored. Several goroutines may multiply at the same
// time, each with its own SegmentScratch.
type Segmented struct {
	name   kernels.Form
	layout cpms.Layout
	rows   int
	level  simd.Level
	wide   bool // store 4 bytes for each column, even if 2 suffice

	order []int32 // the row in each position; nil if the rows are not sorted
	ptr   []int64 // the first entry of each row, or the first slot of each slice
	count []int32 // slices only: the number of entries of each row, 0 after the last row
	idx   []int32
	near  []uint16    // columns relative to the start of their slice, instead of idx
	start []int32     // least column of each slice
	val   *cpms.Array // values in segments, or
	plain []float64   // values as float64; val and plain are nil if all values are 1

	bytes, padding int64
}

// NewSegmented builds the form with the given name. If r.Val is nil, all values are 1. A column
// takes 2 bytes if the columns of every slice span less than 2^16 and wide is false, and 4 bytes
// otherwise. NewSegmented copies the rows, so r may change afterwards. It fails with a
// *sparse.InputError if a column is outside x or if the name or the layout does not exist.
func NewSegmented(name kernels.Form, r form.Rows[float64], l cpms.Layout, wide bool) (*Segmented, error) {
	m := &Segmented{name: name, layout: l, rows: len(r.Ptr) - 1, wide: wide, level: simd.Default()}
	if r.Val != nil {
		if err := l.Check(); err != nil {
			return nil, err
		}
	}
	if err := form.CheckColumns(r.Idx, r.Cols); err != nil {
		return nil, err
	}
	var err error
	var val []float64
	before := r.Mem.Used()
	switch name {
	case FormCPMSRows:
		val, err = m.copyRows(r)
	case FormCPMSSlices:
		val, err = m.cutSlices(r)
	case FormCPMSSorted:
		if err = m.sortRows(r); err == nil {
			val, err = m.cutSlices(r)
		}
	default:
		err = sparse.Inputf("format", "%q can't be read in segments: use %s, %s or %s", string(name), FormCPMSRows, FormCPMSSlices, FormCPMSSorted)
	}
	if err == nil && val != nil {
		m.val, err = cpms.FromFloats(val, l)
	}
	if err != nil {
		return nil, err
	}
	m.bytes = r.Mem.Used() - before
	if r.Mem == nil {
		m.bytes = 8*int64(len(m.ptr)+len(val)) + 4*int64(len(m.idx)+len(m.count)+len(m.order)+len(m.start)) + 2*int64(len(m.near))
	}
	return m, nil
}

// BorrowRows returns a Segmented of form FormCPMSRows without values that uses the arrays of r in place. The caller must
// not change them. r.Ptr begins with 0. It fails with a *sparse.InputError if a column is outside x.
func BorrowRows(r form.Rows[float64]) (*Segmented, error) {
	if err := form.CheckColumns(r.Idx, r.Cols); err != nil {
		return nil, err
	}
	return &Segmented{name: FormCPMSRows, rows: len(r.Ptr) - 1, level: simd.Default(), ptr: r.Ptr, idx: r.Idx}, nil
}

func (m *Segmented) copyRows(r form.Rows[float64]) (val []float64, err error) {
	if err := cmp.Or(form.Alloc(r.Mem, &m.ptr, int64(len(r.Ptr))), form.Alloc(r.Mem, &m.idx, int64(len(r.Idx)))); err != nil {
		return nil, err
	}
	for i, p := range r.Ptr {
		m.ptr[i] = p - r.Ptr[0]
	}
	copy(m.idx, r.Idx)
	if r.Val == nil {
		return nil, nil
	}
	val, err = form.Make[float64](r.Mem, int64(len(r.Val)))
	copy(val, r.Val)
	return val, err
}

// JoinBytes returns the additional memory that Join needs while it runs.
func (m *Segmented) JoinBytes() int64 {
	if m.val == nil || m.layout.Bank != cpms.Separated {
		return 0
	}
	return 8 * int64(m.val.Len())
}

// Join replaces the segments by float64 values. Products then read all bits of the values. No
// product may run at the same time.
func (m *Segmented) Join() {
	if m.val != nil {
		m.plain, m.val = m.val.Floats(), nil
	}
}

// scratchValues is the number of values that a goroutine joins at a time if no kernel reads
// segments directly. They fit in the first-level cache.
const scratchValues = 1024

// SegmentScratch is the buffer that a goroutine needs for products of a Segmented.
type SegmentScratch struct{ val []float64 }

func newScratch(m *form.Memory) (*SegmentScratch, error) {
	val, err := form.Make[float64](m, scratchValues)
	return &SegmentScratch{val}, err
}

// NewSegmentScratch allocates a SegmentScratch on the Go heap.
func NewSegmentScratch() *SegmentScratch {
	s, _ := newScratch(nil)
	return s
}

// Sums computes, for the rows first+i of the matrix,
//
//	y[i] = sum over k of val[k]*x[idx[k]]
//
// It reads the first read segments of each value. In slices, first must be a multiple of 8, and so
// must len(y) unless y ends with the last row. For FormCPMSSorted, rows are counted in sorted
// order.
func (m *Segmented) Sums(y []float64, first, read int, x *cpms.Heads, s *SegmentScratch) {
	e := Entries{Idx: m.idx, Near: m.near, Plain: m.plain, Segments: m.val, Read: read}
	if m.count == nil {
		HeadRows(m.level, y, m.ptr[first:first+len(y)+1], e, x, s.val)
		return
	}
	var last [SliceRows]float64
	whole := len(y) &^ (SliceRows - 1)
	clear(y)
	m.addSlices(y[:whole], first, e, x, s)
	if whole < len(y) {
		m.addSlices(last[:], first+whole, e, x, s)
		copy(y[whole:], last[:])
	}
}

// addSlices adds whole slices to y.
func (m *Segmented) addSlices(y []float64, first int, e Entries, x *cpms.Heads, s *SegmentScratch) {
	off := m.ptr[first/SliceRows:][:len(y)/SliceRows+1]
	if m.near != nil {
		e.Start = m.start[first/SliceRows:]
	}
	HeadSlices(m.level, y, m.count[first:first+len(y)], off, e, x, s.val)
}
