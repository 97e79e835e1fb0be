package sparse

// rowSorter sorts (column, value) pairs by column, stably. All rows share its scratch
// memory.
type rowSorter[V Value] struct {
	col []int32
	val []V
}

// insertionEntries is the largest number of entries of a row that is always sorted by
// insertion. A longer row that is not nearly sorted is sorted by radix, which has a fixed
// cost per row.
const insertionEntries = 40

// sort sorts one row and reports whether a column occurs more than once.
func (s *rowSorter[V]) sort(col []int32, val []V) (duplicates bool) {
	for k := 1; k < len(col); k++ {
		if col[k] < col[k-1] {
			if !insertionSort(col, val) {
				s.radixSort(col, val)
			}
			break
		}
	}
	for k := 1; k < len(col); k++ {
		if col[k] == col[k-1] {
			return true
		}
	}
	return false
}

// insertionSort sorts a row. It gives up and returns false if a row of more than
// insertionEntries takes more than two moves per entry.
func insertionSort[V Value](col []int32, val []V) bool {
	moves := 2 * len(col)
	if len(col) <= insertionEntries {
		moves = len(col) * len(col)
	}
	for k := 1; k < len(col); k++ {
		j, v, to := col[k], val[k], k
		for ; to > 0 && col[to-1] > j; to-- {
			col[to], val[to] = col[to-1], val[to-1]
		}
		col[to], val[to] = j, v
		if moves -= k - to; moves < 0 {
			return false
		}
	}
	return true
}

// radixSort sorts by digits of 8 bits, lowest first, alternating between the row and a
// copy.
func (s *rowSorter[V]) radixSort(col []int32, val []V) {
	s.col, s.val = append(s.col[:0], col...), append(s.val[:0], val...)
	var all int32
	for _, c := range col {
		all |= c
	}
	fromCol, fromVal, toCol, toVal := s.col, s.val, col, val
	inPlace := false
	for shift := 0; all>>shift > 0; shift += 8 {
		var next [256]int
		for _, c := range fromCol {
			next[uint8(c>>shift)]++
		}
		sum := 0
		for d, n := range next {
			next[d] = sum
			sum += n
		}
		for k, c := range fromCol {
			d := uint8(c >> shift)
			to := next[d]
			next[d] = to + 1
			toCol[to], toVal[to] = c, fromVal[k]
		}
		fromCol, fromVal, toCol, toVal = toCol, toVal, fromCol, fromVal
		inPlace = !inPlace
	}
	if !inPlace {
		copy(toCol, fromCol)
		copy(toVal, fromVal)
	}
}
