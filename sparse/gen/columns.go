package gen

import "slices"

// randomColumns returns a plan.row that draws the columns of a row uniformly from cols
// columns, without repetition.
func randomColumns(s seed, cols int64) func(i int64, col []int32, tmp *scratch) {
	return func(i int64, col []int32, tmp *scratch) {
		if row := s.sub(uint64(i)); int64(len(col)) > cols/8 {
			row.selectColumns(col, cols)
		} else {
			row.drawColumns(col, cols, tmp)
		}
	}
}

// selectColumns visits every column in order and selects it with the probability that
// remains for it (Knuth, TAOCP 3.4.2, algorithm S). It suits rows with many of the
// columns.
func (s seed) selectColumns(col []int32, cols int64) {
	k := 0
	for j := int64(0); k < len(col); j++ {
		if s.below(uint64(j), uint64(cols-j)) < uint64(len(col)-k) {
			col[k] = int32(j)
			k++
		}
	}
}

// drawColumns draws columns, sorts them, drops repeated ones, and draws again for those.
// It suits rows with few of the columns.
func (s seed) drawColumns(col []int32, cols int64, tmp *scratch) {
	drawn := uint64(0)
	idx := slices.Grow(tmp.idx[:0], len(col))
	for len(idx) < len(col) {
		for len(idx) < len(col) {
			idx = append(idx, int32(s.below(drawn, uint64(cols))))
			drawn++
		}
		slices.Sort(idx)
		idx = slices.Compact(idx)
	}
	copy(col, idx)
	tmp.idx = idx
}
