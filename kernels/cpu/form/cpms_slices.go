package form

import (
	"math"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
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
