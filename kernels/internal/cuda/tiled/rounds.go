package tiled

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// chunk is the number of places that share a base: the threads of a warp.
const chunk = 32

// reach is the number of columns that a code reaches from its base.
const reach = 1 << 16

// place is an entry of a tile: its column, its sum, and its index in Idx and Val; entry -1 is a place without one.
type place struct {
	column, sum int32
	entry       int64
}

var none = place{sum: MaxSums, entry: -1}

// arranger arranges the entries of tiles in rounds, and reuses its memory.
type arranger[V sparse.Value] struct {
	*Plan[V]
	keys, spare []uint64
	sum         []int32 // by entry of the tile
	next        []int32 // by sum: the first round without it
	rounds      [][]place
	out         []place
}

// arrange returns the places of a tile: a multiple of Round of them. It takes the entries in the order of their columns, and
// puts each in the first round that has room and no entry of the same sum.
func (a *arranger[V]) arrange(t *tile) []place {
	a.sort(t)
	a.next = append(a.next[:0], make([]int32, t.sum[len(t.sum)-1])...)
	for i := range a.rounds {
		a.rounds[i] = a.rounds[i][:0]
	}
	used, open := 0, 0 // rounds in use; the first one with room
	for _, key := range a.keys {
		k := int64(uint32(key))
		s := a.sum[k]
		r := max(int(a.next[s]), open)
		for r < used && len(a.rounds[r]) == Round {
			r++
		}
		if r >= used {
			used = r + 1
		}
		for len(a.rounds) < used {
			a.rounds = append(a.rounds, make([]place, 0, Round))
		}
		a.rounds[r] = append(a.rounds[r], place{column: int32(key >> 32), sum: s, entry: t.first + k})
		a.next[s] = int32(r + 1)
		for open < used && len(a.rounds[open]) == Round {
			open++
		}
	}
	a.out = a.out[:0]
	for _, r := range a.rounds[:used] {
		a.lay(r)
	}
	return a.out
}

// lay appends the places of a round to out, and starts a new chunk where the columns of one are too far apart. A round
// that then has more than Round places continues in another one.
func (a *arranger[V]) lay(round []place) {
	for _, p := range round {
		if begin := len(a.out) / chunk * chunk; begin < len(a.out) && p.column-a.out[begin].column >= reach {
			a.pad(chunk)
		}
		a.out = append(a.out, p)
	}
	a.pad(Round)
}

// pad appends places without an entry up to a multiple of n.
func (a *arranger[V]) pad(n int) {
	for len(a.out)%n != 0 {
		a.out = append(a.out, none)
	}
}

// sort sets keys to the entries of a tile, sorted by column: the column, then the number of the entry in the tile. It
// sets sum: the entries of a row take the sums of the row in turn.
func (a *arranger[V]) sort(t *tile) {
	n := t.end - t.first
	a.keys, a.spare, a.sum = slices.Grow(a.keys[:0], int(n))[:n], slices.Grow(a.spare[:0], int(n))[:n], slices.Grow(a.sum[:0], int(n))[:n]
	k, most := int64(0), int32(0)
	for i := range t.sum[1:] {
		s, sums := t.sum[i], t.sum[i+1]-t.sum[i]
		for end := min(a.start(t.row+int32(i)+1), t.end) - t.first; k < end; k++ {
			c := a.rows.Idx[t.first+k]
			a.keys[k], most = uint64(c)<<32|uint64(k), max(most, c)
			a.sum[k] = s
			if s++; s == t.sum[i]+sums {
				s = t.sum[i]
			}
		}
	}
	const digit = 11
	for shift := 32; shift < 64 && most>>(shift-32) > 0; shift += digit {
		var at [1 << digit]int
		for _, key := range a.keys {
			at[key>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, c := range at {
			at[i], sum = sum, sum+c
		}
		for _, key := range a.keys {
			b := key >> shift & (1<<digit - 1)
			a.spare[at[b]] = key
			at[b]++
		}
		a.keys, a.spare = a.spare, a.keys
	}
}
