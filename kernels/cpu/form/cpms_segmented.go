package form

import (
	"cmp"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// Segmented is rows of a matrix with their values in segments, or without values,
// for sums with vectors of which only the heads are kept. Its products may run on
// many goroutines at once, each with a SegmentScratch of its own.
type Segmented struct {
	name   kernels.Form
	layout cpms.Layout
	rows   int
	level  simd.Level
	wide   bool // 4 bytes for each column

	order []int32 // the row at each place, nil where rows are in their order
	ptr   []int64 // of rows, or of slices
	count []int32 // entries of each row, 0 beyond the last; for slices only
	idx   []int32
	near  []uint16    // columns less the start of their slice, instead of idx
	start []int32     // of slices
	val   *cpms.Array // in segments, or
	plain []float64   // as they are; both nil when all values are 1

	bytes, padding int64
}

// NewSegmented builds the form of that name. Without values (r.Val nil) all are 1.
// Where the columns of each slice are near to each other they take 2 bytes each,
// unless wide asks for 4.
// The rows are copied, so that r may change afterwards. A column outside of x is a
// *sparse.InputError, and so is a name or a layout that does not exist.
func NewSegmented(name kernels.Form, r Rows[float64], l cpms.Layout, wide bool) (*Segmented, error) {
	m := &Segmented{name: name, layout: l, rows: len(r.Ptr) - 1, wide: wide, level: simd.Default()}
	if r.Val != nil {
		if err := l.Check(); err != nil {
			return nil, err
		}
	}
	if err := checkColumns(r.Idx, r.Cols); err != nil {
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

func (m *Segmented) copyRows(r Rows[float64]) (val []float64, err error) {
	if err := cmp.Or(take(r.Mem, &m.ptr, int64(len(r.Ptr))), take(r.Mem, &m.idx, int64(len(r.Idx)))); err != nil {
		return nil, err
	}
	for i, p := range r.Ptr {
		m.ptr[i] = p - r.Ptr[0]
	}
	copy(m.idx, r.Idx)
	if r.Val == nil {
		return nil, nil
	}
	val, err = Make[float64](r.Mem, int64(len(r.Val)))
	copy(val, r.Val)
	return val, err
}

// JoinBytes is what Join takes meanwhile.
func (m *Segmented) JoinBytes() int64 {
	if m.val == nil || m.layout.Bank != cpms.Separated {
		return 0
	}
	return 8 * int64(m.val.Len())
}

// Join gives the values back their plain form, in place: from then on products
// read all of them. No product may run at the time.
func (m *Segmented) Join() {
	if m.val != nil {
		m.plain, m.val = m.val.Floats(), nil
	}
}

// scratchValues is how many values a goroutine joins from their segments at a time
// where no kernel reads them as they are: few enough for the nearest cache.
const scratchValues = 1024

// SegmentScratch is what a goroutine needs for the products of a Segmented.
type SegmentScratch struct{ val []float64 }

func newScratch(m *Memory) (*SegmentScratch, error) {
	val, err := Make[float64](m, scratchValues)
	return &SegmentScratch{val}, err
}

// NewSegmentScratch makes one on the Go heap.
func NewSegmentScratch() *SegmentScratch {
	s, _ := newScratch(nil)
	return s
}

// Sums computes, for the rows first+i of the matrix,
//
//	y[i] = sum over k of val[k]*x[idx[k]]
//
// where each value is read from its first read segments. In slices, first must be a
// multiple of 8, and so must len(y) but at the last row. FormCPMSSorted counts rows in
// its own order.
func (m *Segmented) Sums(y []float64, first, read int, x *cpms.Heads, s *SegmentScratch) {
	e := simd.Entries{Idx: m.idx, Near: m.near, Plain: m.plain, Segments: m.val, Read: read}
	if m.count == nil {
		simd.HeadRows(m.level, y, m.ptr[first:first+len(y)+1], e, x, s.val)
		return
	}
	var last [simd.SliceRows]float64
	whole := len(y) &^ (simd.SliceRows - 1)
	clear(y)
	m.addSlices(y[:whole], first, e, x, s)
	if whole < len(y) {
		m.addSlices(last[:], first+whole, e, x, s)
		copy(y[whole:], last[:])
	}
}

// addSlices adds whole slices to y.
func (m *Segmented) addSlices(y []float64, first int, e simd.Entries, x *cpms.Heads, s *SegmentScratch) {
	off := m.ptr[first/simd.SliceRows:][:len(y)/simd.SliceRows+1]
	if m.near != nil {
		e.Start = m.start[first/simd.SliceRows:]
	}
	simd.HeadSlices(m.level, y, m.count[first:first+len(y)], off, e, x, s.val)
}
