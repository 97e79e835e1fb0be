package form

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// checkOrder fails where sums are to have a fixed shape and a row goes back to an
// earlier tile.
func (b *tileBuilder[V]) checkOrder() error {
	for i := 0; b.r.Fixed && i < b.out.rows; i++ {
		last := int32(0)
		for _, c := range b.r.Idx[b.at(i):b.at(i+1)] {
			if c>>b.out.shift < last {
				return sparse.Inputf("matrix", "columns fall in a row: with sums of a fixed shape tiles need sorted rows")
			}
			last = c >> b.out.shift
		}
	}
	return nil
}

// order moves the entries of rows that will be in several lanes, so that each such
// row is in its order once the tile with the places lo ... hi-1 is dealt.
func (b *tileBuilder[V]) order(lo, hi int64) {
	e := b.out.entries.Entries[lo:hi]
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
		switch v := &b.out.entries.Values; v.Storage {
		case simd.Full:
			move(v.Full[lo:hi], from, to)
		case simd.Short:
			move(v.Short[lo:hi], from, to)
		}
	}
}

// move moves element from+k to to[k], for all k at once.
func move[T any](s []T, from int, to []int) {
	run := slices.Clone(s[from : from+len(to)])
	for k, i := range to {
		s[i] = run[k]
	}
}
