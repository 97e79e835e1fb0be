package snap

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// numbering maps the ids that occur, in ascending order, to 0, 1, ....
type numbering struct {
	set    bitSet  // ids up to maxID; empty if these are in sorted
	sorted []int64 // all other ids
}

// A bitSet takes 1 bit for each id up to the largest one. It is used if it takes at most
// setFree bytes and setPerEdge bytes per edge.
const (
	setFree    = 16 << 20
	setPerEdge = 32
)

// newNumbering numbers the ids of chunks. largest is the largest of those up to maxID, or
// -1.
func newNumbering(chunks []chunkEdges, largest int64, edges int64) numbering {
	n := numbering{}
	if (largest+1)/8 <= setFree+setPerEdge*edges {
		n.set = newBitSet(largest + 1)
	}
	each(chunks, func(b *chunkEdges) {
		for _, ids := range [][]int32{b.Row, b.Col} {
			for _, id := range ids {
				if id >= 0 && n.set.bits != nil {
					n.set.add(int64(id))
				}
			}
		}
	})
	n.set.count()
	for i := range chunks {
		n.sorted = append(n.sorted, chunks[i].wide...)
		if n.set.bits != nil {
			continue
		}
		for _, ids := range [][]int32{chunks[i].Row, chunks[i].Col} {
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

// len returns the number of ids.
func (n *numbering) len() int64 { return n.set.n + int64(len(n.sorted)) }

// ids returns the ids in ascending order, or nil if they are 0 ... len-1.
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

// renumber replaces the ids of every edge of chunks by their numbers.
func (n *numbering) renumber(chunks []chunkEdges) {
	if len(n.sorted) == 0 && n.set.n == n.set.size {
		return
	}
	each(chunks, func(b *chunkEdges) {
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

// each calls f for every chunk, several at a time.
func each(chunks []chunkEdges, f func(b *chunkEdges)) {
	par.Range(int64(len(chunks)), 1, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			f(&chunks[k])
		}
	})
}

// bitSet is a set of the ids 0 ... size-1.
type bitSet struct {
	size, n int64    // n is the number of elements, set by count
	bits    []uint64 // nil if the set is not used
	before  []int64  // number of elements before each group of words
}

// group is the number of words of a bitSet that share one count.
const group = 8

func newBitSet(size int64) bitSet { return bitSet{size: size, bits: make([]uint64, (size+63)/64)} }

// add adds id to the set. Several goroutines may call it.
func (s *bitSet) add(id int64) {
	word, bit := &s.bits[id/64], uint64(1)<<(id%64)
	if atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// count prepares rank, after the last call of add.
func (s *bitSet) count() {
	s.before = make([]int64, (len(s.bits)+group-1)/group)
	for g := range s.before {
		s.before[g] = s.n
		for _, word := range s.bits[g*group : min((g+1)*group, len(s.bits))] {
			s.n += int64(bits.OnesCount64(word))
		}
	}
}

// rank returns the number of elements below id.
func (s *bitSet) rank(id int64) int64 {
	w := int(id / 64)
	g := w / group
	n := s.before[g]
	for _, word := range s.bits[g*group : w] {
		n += int64(bits.OnesCount64(word))
	}
	return n + int64(bits.OnesCount64(s.bits[w]&(1<<(id%64)-1)))
}
