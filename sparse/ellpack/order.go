package ellpack

import "slices"

// sortByLength returns the order of rows by descending length within windows of
// consecutive rows. Rows of equal length keep their order. Position i of the result holds
// row perm[i].
func sortByLength(lengths []int32, window int64, serial bool) []int32 {
	n := int64(len(lengths))
	perm := make([]int32, n)
	windows := ceil(n, window)
	each(windows, 1<<13/min(window, 1<<13), serial, func(lo, hi int64) {
		var s sorter
		for w := lo; w < hi; w++ {
			from := w * window
			s.sort(perm[from:min(from+window, n)], lengths, int32(from))
		}
	})
	return perm
}

// sorter is a counting sort. It reuses its counters.
type sorter struct{ next []int32 }

// sort fills perm with the rows first, first+1, ... by descending length.
func (s *sorter) sort(perm, lengths []int32, first int32) {
	own := lengths[first : int(first)+len(perm)]
	longest := slices.Max(own)
	if int64(longest) > 4*int64(len(perm))+256 {
		// Counting would be slower than comparing.
		for i := range perm {
			perm[i] = first + int32(i)
		}
		slices.SortStableFunc(perm, func(a, b int32) int { return int(lengths[b]) - int(lengths[a]) })
		return
	}
	s.next = append(s.next[:0], make([]int32, int(longest)+2)...)
	for _, n := range own {
		s.next[longest-n+1]++
	}
	for k := 1; k < len(s.next); k++ {
		s.next[k] += s.next[k-1]
	}
	for i, n := range own {
		at := &s.next[longest-n]
		perm[*at] = first + int32(i)
		*at++
	}
}

// ceil returns n/d rounded up, or 0 if n is not positive.
func ceil(n, d int64) int64 {
	if n <= 0 {
		return 0
	}
	return (n-1)/d + 1
}

// roundUp returns n rounded up to a multiple of d.
func roundUp(n, d int64) int64 { return ceil(n, d) * d }
