package snap

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// numbering gives the ids that occur the numbers 0, 1, ... in rising order.
type numbering struct {
	set    bitSet  // of the ids up to maxID; empty where they are in sorted
	sorted []int64 // the ids beyond those of set
}

// A bitSet takes 1 bit for each id up to the largest one: setFree bytes whatever the number of edges is, and at most
// setPerEdge bytes for each edge beyond that.
const (
	setFree    = 16 << 20
	setPerEdge = 32
)

// newNumbering numbers the ids of blocks, of which the largest of those up to maxID is largest, -1 if there is none.
func newNumbering(blocks []block, largest int64, edges int64) numbering {
	n := numbering{}
	if (largest+1)/8 <= setFree+setPerEdge*edges {
		n.set = newBitSet(largest + 1)
	}
	each(blocks, func(b *block) {
		for _, ids := range [][]int32{b.Row, b.Col} {
			for _, id := range ids {
				if id >= 0 && n.set.bits != nil {
					n.set.add(int64(id))
				}
			}
		}
	})
	n.set.count()
	for i := range blocks {
		n.sorted = append(n.sorted, blocks[i].wide...)
		if n.set.bits != nil {
			continue
		}
		for _, ids := range [][]int32{blocks[i].Row, blocks[i].Col} {
			for _, id := range ids {
				if id >= 0 {
					n.sorted = append(n.sorted, int64(id))
				}
			}
		}
	}
	slices.Sort(n.sorted)
	n.sorted = slices.Clip(slices.Compact(n.sorted))
	return n
}

// len is how many ids occur.
func (n *numbering) len() int64 { return n.set.n + int64(len(n.sorted)) }

// ids lists them, nil if they are 0 ... len-1.
func (n *numbering) ids() []int64 {
	if len(n.sorted) == 0 && n.set.n == n.set.size {
		return nil
	}
	ids := make([]int64, 0, n.len())
	for w, word := range n.set.bits {
		for ; word != 0; word &= word - 1 {
			ids = append(ids, int64(w)*64+int64(bits.TrailingZeros64(word)))
		}
	}
	ids = append(ids, n.sorted...)
	if ids[0] == 0 && ids[len(ids)-1] == int64(len(ids))-1 {
		return nil
	}
	return ids
}

// renumber gives every edge of blocks the numbers of its ids.
func (n *numbering) renumber(blocks []block) {
	if len(n.sorted) == 0 && n.set.n == n.set.size {
		return
	}
	each(blocks, func(b *block) {
		for _, ids := range [][]int32{b.Row, b.Col} {
			for k, id := range ids {
				wide := int64(id)
				if id < 0 {
					wide = b.wide[^id]
				} else if n.set.bits != nil {
					ids[k] = int32(n.set.rank(wide))
					continue
				}
				at, _ := slices.BinarySearch(n.sorted, wide)
				ids[k] = int32(n.set.n + int64(at))
			}
		}
		b.wide = nil
	})
}

// each calls f for every block, several at a time.
func each(blocks []block, f func(b *block)) {
	par.Range(int64(len(blocks)), 1, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			f(&blocks[k])
		}
	})
}

// bitSet is a set of the ids 0 ... size-1.
type bitSet struct {
	size, n int64    // n are in it, once they are counted
	bits    []uint64 // nil for a set that is not used
	before  []int64  // how many are in it before each group of words
}

// group is how many words of a bitSet have one count.
const group = 8

func newBitSet(size int64) bitSet { return bitSet{size: size, bits: make([]uint64, (size+63)/64)} }

// add puts id into the set; on any goroutine.
func (s *bitSet) add(id int64) {
	word, bit := &s.bits[id/64], uint64(1)<<(id%64)
	if atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// count prepares rank, when the set is complete.
func (s *bitSet) count() {
	s.before = make([]int64, (len(s.bits)+group-1)/group)
	for g := range s.before {
		s.before[g] = s.n
		for _, word := range s.bits[g*group : min((g+1)*group, len(s.bits))] {
			s.n += int64(bits.OnesCount64(word))
		}
	}
}

// rank is how many ids below id are in the set.
func (s *bitSet) rank(id int64) int64 {
	w := int(id / 64)
	g := w / group
	n := s.before[g]
	for _, word := range s.bits[g*group : w] {
		n += int64(bits.OnesCount64(word))
	}
	return n + int64(bits.OnesCount64(s.bits[w]&(1<<(id%64)-1)))
}
