package cpms

// MultiplyTransposed reads as many segments of each value as Multiply.
func (f *cpmsForm) MultiplyTransposed(alpha float64, x []float64, to func(lo, hi int) []float64) {
	m := f.m
	if m.val == nil || m.val.Len() == 0 {
		return
	}
	y, height := to(0, f.cols), 1
	if m.count != nil {
		height = SliceRows
	}
	for s := range len(m.ptr) - 1 { // slices or rows
		for first := m.ptr[s]; first < m.ptr[s+1]; first += scratchValues {
			val := f.scratch.val[:min(scratchValues, m.ptr[s+1]-first)]
			JoinSegments(m.level, val, m.val, int(first), f.read)
			for i, v := range val {
				place := s*height + i%height
				if m.count != nil && (first-m.ptr[s]+int64(i))/SliceRows >= int64(m.count[place]) {
					continue
				}
				y[m.column(s, first+int64(i))] += alpha * (v * x[m.row(place)])
			}
		}
	}
}

// column returns the column of entry k, which is in slice s.
func (m *Segmented) column(s int, k int64) int32 {
	if m.near != nil {
		return m.start[s] + int32(m.near[k])
	}
	return m.idx[k]
}
