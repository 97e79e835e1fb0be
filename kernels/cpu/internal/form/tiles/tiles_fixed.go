package tiles

import (
	"cmp"
	"slices"
)

// OrderForLanes permutes entries such that distribute leaves the entries of each row in their
// order. The entries are sorted by row, which is in their high 16 bits. Only rows that distribute
// distributes over several lanes change. For each such row orderForLanes calls others, which must
// move element from+k of other arrays to to[k], for all k at once.
func OrderForLanes(e []uint32, others func(from int, to []int)) {
	each, more := len(e)/tileLanes, len(e)%tileLanes
	if each == 0 {
		return
	}
	// place returns the position to which distribute moves element i.
	place := func(i int) int {
		if long := more * (each + 1); i >= long {
			return (i-long)%each*tileLanes + more + (i-long)/each
		}
		return i%(each+1)*tileLanes + i/(each+1)
	}
	done := 0
	for lane := 1; lane < tileLanes; lane++ {
		first := lane*each + min(lane, more)
		if first < done || e[first-1]>>16 != e[first]>>16 {
			continue
		}
		from := first - 1
		for from > 0 && e[from-1]>>16 == e[first]>>16 {
			from--
		}
		for done = first + 1; done < len(e) && e[done]>>16 == e[first]>>16; {
			done++
		}
		to := make([]int, 0, done-from)
		for i := from; i < done; i++ {
			to = append(to, i)
		}
		slices.SortFunc(to, func(i, j int) int { return cmp.Compare(place(i), place(j)) })
		Move(e, from, to)
		others(from, to)
	}
}

// Move moves element from+k to to[k], for all k at once.
func Move[T any](s []T, from int, to []int) {
	run := slices.Clone(s[from : from+len(to)])
	for k, i := range to {
		s[i] = run[k]
	}
}
