package partition

import "slices"

// lowerBound is the first i with ptr[i] >= s in a rising slice that ends with s or more.
//
// Each probe of a large array is a cache miss, which is all that a split costs.
// So it guesses where s would stand if all majors were of equal length, mends
// the guess by the same rule a few times, and then looks around it in steps that
// double. Where lengths vary so much that this does not help, it is a binary
// search of what is left: O(log m) in every case.
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
