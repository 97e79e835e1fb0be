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

// dealer arranges the entries of tiles in rounds, and reuses its memory.
type dealer[V sparse.Value] struct {
	*Plan[V]
	keys, spare []uint64
	sum         []int32 // by entry of the tile
	next        []int32 // by sum: the first round without it
	rounds      [][]place
	out         []place
}

// deal returns the places of a tile: a multiple of Round of them. It takes the entries in the order of their columns, and
// puts each in the first round that has room and no entry of the same sum.
func (d *dealer[V]) deal(t *tile) []place {
	d.sort(t)
	d.next = append(d.next[:0], make([]int32, t.sum[len(t.sum)-1])...)
	for i := range d.rounds {
		d.rounds[i] = d.rounds[i][:0]
	}
	used, open := 0, 0 // rounds in use; the first one with room
	for _, key := range d.keys {
		k := int64(uint32(key))
		s := d.sum[k]
		r := max(int(d.next[s]), open)
		for r < used && len(d.rounds[r]) == Round {
			r++
		}
		if r >= used {
			used = r + 1
		}
		for len(d.rounds) < used {
			d.rounds = append(d.rounds, make([]place, 0, Round))
		}
		d.rounds[r] = append(d.rounds[r], place{column: int32(key >> 32), sum: s, entry: t.first + k})
		d.next[s] = int32(r + 1)
		for open < used && len(d.rounds[open]) == Round {
			open++
		}
	}
	d.out = d.out[:0]
	for _, r := range d.rounds[:used] {
		d.lay(r)
	}
	return d.out
}

// lay appends the places of a round to out, and starts a new chunk where the columns of one are too far apart. A round
// that then has more than Round places continues in another one.
func (d *dealer[V]) lay(round []place) {
	for _, p := range round {
		if begin := len(d.out) / chunk * chunk; begin < len(d.out) && p.column-d.out[begin].column >= reach {
			d.pad(chunk)
		}
		d.out = append(d.out, p)
	}
	d.pad(Round)
}

// pad appends places without an entry up to a multiple of n.
func (d *dealer[V]) pad(n int) {
	for len(d.out)%n != 0 {
		d.out = append(d.out, none)
	}
}

// sort sets keys to the entries of a tile, sorted by column: the column, then the number of the entry in the tile. It
// sets sum: the entries of a row take the sums of the row in turn.
func (d *dealer[V]) sort(t *tile) {
	n := t.end - t.first
	d.keys, d.spare, d.sum = slices.Grow(d.keys[:0], int(n))[:n], slices.Grow(d.spare[:0], int(n))[:n], slices.Grow(d.sum[:0], int(n))[:n]
	k, most := int64(0), int32(0)
	for i := range t.sum[1:] {
		s, sums := t.sum[i], t.sum[i+1]-t.sum[i]
		for end := min(d.start(t.row+int32(i)+1), t.end) - t.first; k < end; k++ {
			c := d.rows.Idx[t.first+k]
			d.keys[k], most = uint64(c)<<32|uint64(k), max(most, c)
			d.sum[k] = s
			if s++; s == t.sum[i]+sums {
				s = t.sum[i]
			}
		}
	}
	const digit = 11
	for shift := 32; shift < 64 && most>>(shift-32) > 0; shift += digit {
		var at [1 << digit]int
		for _, key := range d.keys {
			at[key>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, c := range at {
			at[i], sum = sum, sum+c
		}
		for _, key := range d.keys {
			b := key >> shift & (1<<digit - 1)
			d.spare[at[b]] = key
			at[b]++
		}
		d.keys, d.spare = d.spare, d.keys
	}
}
