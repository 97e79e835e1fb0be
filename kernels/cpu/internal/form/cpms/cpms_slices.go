package cpms

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// SlicePadding returns the number of slots without an entry that FormCPMSSlices would have.
func SlicePadding(ptr []int64) (padding int64) {
	rows := len(ptr) - 1
	for first := 0; first < rows; first += SliceRows {
		end := min(first+SliceRows, rows)
		padding += SliceRows*form.Widest(ptr, first, end) - (ptr[end] - ptr[first])
	}
	return padding
}

// cutSlices stores slices of 8 rows, column by column: entry t of row 8s+i is in slot ptr[s]+8t+i.
func (m *Segmented) cutSlices(r form.Rows[float64]) (val []float64, err error) {
	slices := (m.rows + SliceRows - 1) / SliceRows
	if err = m.placeSlices(r, slices); err != nil {
		return nil, err
	}
	total := m.ptr[slices]
	m.padding = total - int64(len(r.Idx))
	if !m.wide {
		if err = m.setStarts(r, slices); err != nil {
			return nil, err
		}
	}
	if m.start != nil {
		err = form.Alloc(r.Mem, &m.near, total)
	} else {
		err = form.Alloc(r.Mem, &m.idx, total)
	}
	if err == nil && r.Val != nil {
		err = form.Alloc(r.Mem, &val, total)
	}
	if err != nil {
		return nil, err
	}
	par.Range(int64(slices), 1<<10, func(lo, hi int64) {
		for i := lo * SliceRows; i < min(hi*SliceRows, int64(m.rows)); i++ {
			at, row := m.ptr[i/SliceRows]+i%SliceRows, m.row(int(i))
			for k := r.At(row); k < r.At(row+1); k++ {
				if m.near != nil {
					m.near[at] = uint16(r.Idx[k] - m.start[i/SliceRows])
				} else {
					m.idx[at] = r.Idx[k]
				}
				if val != nil {
					val[at] = r.Val[k]
				}
				at += SliceRows
			}
		}
	})
	return val, nil
}

// placeSlices sets the first slot of each slice and the number of entries of each row. It fails
// with kernels.ErrOutOfMemory if these numbers overflow.
func (m *Segmented) placeSlices(r form.Rows[float64], slices int) (err error) {
	if err := cmp.Or(form.Alloc(r.Mem, &m.ptr, int64(slices)+1), form.Alloc(r.Mem, &m.count, int64(slices)*SliceRows)); err != nil {
		return err
	}
	for s := range slices {
		w := int64(0)
		for i := s * SliceRows; i < min((s+1)*SliceRows, m.rows); i++ {
			n := r.Ptr[m.row(i)+1] - r.Ptr[m.row(i)]
			m.count[i], w = int32(n), max(w, n)
		}
		if w > math.MaxInt32 || m.ptr[s] > math.MaxInt64-SliceRows*w {
			return kernels.ErrOutOfMemory
		}
		m.ptr[s+1] = m.ptr[s] + SliceRows*w
	}
	return nil
}

// setStarts sets start if the columns of every slice span less than 2^16.
func (m *Segmented) setStarts(r form.Rows[float64], slices int) error {
	start, err := form.Make[int32](r.Mem, int64(slices))
	if err != nil {
		return err
	}
	if m.spans16Bits(r, func(slice int64, first int32) { start[slice] = first }) {
		m.start = start
	}
	return nil
}

// spans16Bits reports whether the columns of every slice span less than 2^16. It calls first with
// the least column of each slice that has entries.
func (m *Segmented) spans16Bits(r form.Rows[float64], first func(slice int64, column int32)) bool {
	slices := (m.rows + SliceRows - 1) / SliceRows
	var far atomic.Bool
	par.Range(int64(slices), 1<<10, func(lo, hi int64) {
		for s := lo; s < hi && !far.Load(); s++ {
			least, most := int32(math.MaxInt32), int32(0)
			for i := s * SliceRows; i < min((s+1)*SliceRows, int64(m.rows)); i++ {
				row := m.row(int(i))
				for _, j := range r.Columns(row) {
					least, most = min(least, j), max(most, j)
				}
			}
			if least <= most {
				first(s, least)
			}
			if most-least > math.MaxUint16 {
				far.Store(true)
			}
		}
	})
	return !far.Load()
}

// SegmentedBytes returns the memory that NewSegmented needs for unsorted rows, as FormCPMSRows or
// FormCPMSSlices: kept is the memory of the form, passing is the additional memory while it is
// built. It does not use r.Val; values says whether the entries have values.
func SegmentedBytes(name kernels.Form, r form.Rows[float64], l cpms.Layout, values, wide bool) (kept, passing int64) {
	rows, places, each := int64(len(r.Ptr)-1), int64(len(r.Idx)), int64(4)
	kept = 8 * (rows + 1)
	if name != FormCPMSRows {
		places += SlicePadding(r.Ptr)
		slices := (rows + SliceRows - 1) / SliceRows
		kept = 8*(slices+1) + 4*SliceRows*slices
		if m := (&Segmented{rows: int(rows)}); !wide && m.spans16Bits(r, func(int64, int32) {}) {
			kept, each = kept+4*slices, 2
		}
	}
	if values {
		each += 8
	}
	if values && l.Bank == cpms.Separated {
		passing = 8 * places
	}
	return kept + each*places, passing
}

// sortRows sorts the rows by decreasing length; rows of equal length stay in their order.
func (m *Segmented) sortRows(r form.Rows[float64]) (err error) {
	if m.order, err = form.Make[int32](r.Mem, int64(m.rows)); err != nil {
		return err
	}
	for i := range m.order {
		m.order[i] = int32(i)
	}
	slices.SortStableFunc(m.order, func(a, b int32) int {
		return cmp.Compare(r.Ptr[b+1]-r.Ptr[b], r.Ptr[a+1]-r.Ptr[a])
	})
	return nil
}

// row returns the row of the matrix in position i.
func (m *Segmented) row(i int) int {
	if m.order == nil {
		return i
	}
	return int(m.order[i])
}
