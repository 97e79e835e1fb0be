package form

import (
	"math"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// SlicePadding is the number of places without an entry that FormCPMSSlices would
// have.
func SlicePadding(ptr []int64) (padding int64) {
	rows := len(ptr) - 1
	for first := 0; first < rows; first += simd.SliceRows {
		end := min(first+simd.SliceRows, rows)
		padding += simd.SliceRows*widest(ptr, first, end) - (ptr[end] - ptr[first])
	}
	return padding
}

// widest is the length of the longest of some rows.
func widest(ptr []int64, first, end int) (w int64) {
	for i := first; i < end; i++ {
		w = max(w, ptr[i+1]-ptr[i])
	}
	return w
}

// cutSlices stores slices of 8 rows: place t of the rows of slice s is at
// ptr[s]+8t, 8 of them side by side.
func (m *Segmented) cutSlices(r Rows[float64]) (val []float64, err error) {
	slices := (m.rows + simd.SliceRows - 1) / simd.SliceRows
	if m.ptr, err = Make[int64](r.Mem, int64(slices)+1); err != nil {
		return nil, err
	}
	if m.count, err = Make[int32](r.Mem, int64(slices)*simd.SliceRows); err != nil {
		return nil, err
	}
	for s := range slices {
		first := s * simd.SliceRows
		end := min(first+simd.SliceRows, m.rows)
		w := widest(r.Ptr, first, end)
		if w > math.MaxInt32 || m.ptr[s] > math.MaxInt64-simd.SliceRows*w {
			return nil, kernels.ErrOutOfMemory
		}
		m.ptr[s+1] = m.ptr[s] + simd.SliceRows*w
		for i := first; i < end; i++ {
			m.count[i] = int32(r.Ptr[i+1] - r.Ptr[i])
		}
	}
	total := m.ptr[slices]
	m.padding = total - int64(len(r.Idx))
	if m.idx, err = Make[int32](r.Mem, total); err != nil {
		return nil, err
	}
	if r.Val != nil {
		if val, err = Make[float64](r.Mem, total); err != nil {
			return nil, err
		}
	}
	par.Range(int64(slices), 1<<10, func(lo, hi int64) {
		for i := lo * simd.SliceRows; i < min(hi*simd.SliceRows, int64(m.rows)); i++ {
			at := m.ptr[i/simd.SliceRows] + i%simd.SliceRows
			for k := r.Ptr[i] - r.Ptr[0]; k < r.Ptr[i+1]-r.Ptr[0]; k++ {
				m.idx[at] = r.Idx[k]
				if val != nil {
					val[at] = r.Val[k]
				}
				at += simd.SliceRows
			}
		}
	})
	return val, nil
}

// sumSlices is Sums for slices.
func (m *Segmented) sumSlices(y []float64, first, read int, x *cpms.Heads, s *SegmentScratch) {
	var last [simd.SliceRows]float64
	whole := len(y) &^ (simd.SliceRows - 1)
	clear(y)
	m.addSlices(y[:whole], first, read, x, s)
	if whole < len(y) {
		m.addSlices(last[:], first+whole, read, x, s)
		copy(y[whole:], last[:])
	}
}

// addSlices adds whole slices to y: as many at a time as the scratch has room for.
func (m *Segmented) addSlices(y []float64, first, read int, x *cpms.Heads, s *SegmentScratch) {
	count := m.count[first : first+len(y)]
	off := m.ptr[first/simd.SliceRows:][:len(y)/simd.SliceRows+1]
	if m.val == nil {
		lo, hi := off[0], off[len(off)-1]
		var val []float64
		if m.plain != nil {
			val = m.plain[lo:hi]
		}
		simd.HeadSlices(m.level, y, count, off, m.idx[lo:hi], val, x)
		return
	}
	for len(y) > 0 {
		n := 0
		for n+1 < len(off) && off[n+1]-off[0] <= scratchValues {
			n++
		}
		if n == 0 {
			n = 1
			m.addWide(y[:simd.SliceRows], count, off[0], off[1], read, x, s)
		} else {
			val := m.join(off[0], off[n], read, s)
			simd.HeadSlices(m.level, y, count, off[:n+1], m.idx[off[0]:off[n]], val, x)
		}
		y, count, off = y[n*simd.SliceRows:], count[n*simd.SliceRows:], off[n:]
	}
}

// addWide adds one slice that the scratch has no room for, in pieces.
func (m *Segmented) addWide(y []float64, count []int32, lo, hi int64, read int, x *cpms.Heads, s *SegmentScratch) {
	const width = scratchValues / simd.SliceRows
	for done := int32(0); lo < hi; lo, done = lo+scratchValues, done+width {
		var piece [simd.SliceRows]int32
		for i := range piece {
			piece[i] = min(max(count[i]-done, 0), width)
		}
		off := [2]int64{lo, min(lo+scratchValues, hi)}
		simd.HeadSlices(m.level, y, piece[:], off[:], m.idx[lo:off[1]], m.join(lo, off[1], read, s), x)
	}
}
