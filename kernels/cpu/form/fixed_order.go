package form

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// checkOrder fails where sums are to have a fixed shape and a row goes back to an earlier block
// of 2^shift columns, for pieces of that name.
func (r Rows[V]) checkOrder(shift uint8, pieces string) error {
	for i := 0; r.Fixed && i < len(r.Ptr)-1; i++ {
		last := int32(0)
		for _, c := range r.columns(i) {
			if c>>shift < last {
				return sparse.Inputf("matrix", "columns fall in a row: with sums of a fixed shape %s need sorted rows", pieces)
			}
			last = c >> shift
		}
	}
	return nil
}

// orderDealt moves those of entries, which are sorted by rows, in their high 16 bits, whose rows
// will be in several lanes, so that each such row is in its order once dealTile has dealt them.
// others moves what belongs to entries in the same way: element from+k to to[k], for all k at once.
func orderDealt(e []uint32, others func(from int, to []int)) {
	each, more := len(e)/tileLanes, len(e)%tileLanes
	if each == 0 {
		return
	}
	// place is where dealTile puts element i.
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
		move(e, from, to)
		others(from, to)
	}
}

// move moves element from+k to to[k], for all k at once.
func move[T any](s []T, from int, to []int) {
	run := slices.Clone(s[from : from+len(to)])
	for k, i := range to {
		s[i] = run[k]
	}
}
