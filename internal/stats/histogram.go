package stats

import (
	"maps"
	"slices"
)

// histogram counts how often each number >= 0 occurs. Small numbers, which are nearly
// all, are counted in an array.
type histogram struct {
	small []int64
	large map[int64]int64
}

const smallNumbers = 1024

func newHistogram() *histogram {
	return &histogram{small: make([]int64, smallNumbers), large: map[int64]int64{}}
}

func (h *histogram) add(k, times int64) {
	if k < smallNumbers {
		h.small[k] += times
	} else {
		h.large[k] += times
	}
}

func (h *histogram) count(k int64) int64 {
	if k < smallNumbers {
		return h.small[k]
	}
	return h.large[k]
}

// merge adds the counts of o.
func (h *histogram) merge(o *histogram) {
	for k, times := range o.small {
		h.small[k] += times
	}
	for k, times := range o.large {
		h.large[k] += times
	}
}

// values returns the numbers that occur, in ascending order.
func (h *histogram) values() []int64 {
	var out []int64
	for k, times := range h.small {
		if times > 0 {
			out = append(out, int64(k))
		}
	}
	return append(out, slices.Sorted(maps.Keys(h.large))...)
}

// counts returns the numbers that occur with how often they do, in ascending order.
func (h *histogram) counts() []LengthCount {
	values := h.values()
	out := make([]LengthCount, len(values))
	for i, v := range values {
		out[i] = LengthCount{v, h.count(v)}
	}
	return out
}
