package partition

import "slices"

// lowerBound returns the first i with ptr[i] >= s. ptr is in ascending order and its last
// element is s or more.
//
// Each probe of a large array is a cache miss, and these are the whole cost of a split.
// So lowerBound interpolates: it guesses the index as if all majors had equal length and
// corrects the guess the same way up to four times. Then it searches around the guess in
// steps that double, and ends with a binary search, which bounds the time to O(log m)
// where lengths vary too much for the guess to help.
func lowerBound(ptr []int64, s int64) int {
	lo, hi := 0, len(ptr)-1 // the answer is in [lo, hi]
	if s <= ptr[0] || hi == 0 {
		return 0
	}
	perEntry := float64(hi) / float64(ptr[hi]-ptr[0])
	g := int(float64(s-ptr[0]) * perEntry)
	for range 4 {
		if hi-lo < 16 {
			break
		}
		g = min(max(g, lo), hi-1)
		off := s - ptr[g]
		if off > 0 {
			lo = g + 1
		} else {
			hi = g
		}
		if -64 < off && off < 64 {
			break
		}
		g += int(float64(off) * perEntry)
	}
	g = min(max(g, lo), hi)
	for w := 8; g+w < hi; w *= 2 {
		if ptr[g+w] >= s {
			hi = g + w
			break
		}
		lo = g + w + 1
	}
	for w := 8; g-w >= lo; w *= 2 {
		if ptr[g-w] < s {
			lo = g - w + 1
			break
		}
		hi = g - w
	}
	i, _ := slices.BinarySearch(ptr[lo:hi], s)
	return lo + i
}
