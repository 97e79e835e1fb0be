package cluster

import (
	"math/bits"

	"github.com/msrep-go/msrep/internal/mem"
)

// columnSet is a set of columns that numbers its members in ascending order. It takes 3/16 byte per column of the
// matrix.
type columnSet struct {
	words  []uint64
	before []int32 // number of members in the earlier words
	size   int
}

// remoteColumns returns the set of the columns in idx outside [first, end).
func remoteColumns(idx []int32, cols, first, end int) *columnSet {
	s := &columnSet{words: make([]uint64, (cols+63)/64), before: make([]int32, (cols+63)/64)}
	own := uint32(end - first)
	for _, j := range idx {
		if uint32(j-int32(first)) >= own {
			s.words[j/64] |= 1 << (j % 64)
		}
	}
	for w, word := range s.words {
		s.before[w] = int32(s.size)
		s.size += bits.OnesCount64(word)
	}
	return s
}

// number returns the index of member j among the ascending members.
func (s *columnSet) number(j int32) int32 {
	return s.before[j/64] + int32(bits.OnesCount64(s.words[j/64]&(1<<(j%64)-1)))
}

// members returns all members in ascending order.
func (s *columnSet) members() []int32 {
	out := make([]int32, 0, s.size)
	for w, word := range s.words {
		for ; word != 0; word &= word - 1 {
			out = append(out, int32(64*w+bits.TrailingZeros64(word)))
		}
	}
	return out
}

// wanted holds the elements that ranks send to each other in each product.
type wanted struct {
	out []indexRun // elements that this rank sends, numbered within the rank; by receiving rank
	in  []indexRun // elements that this rank receives: ranges of the halo
}

// indexRun is the elements of one other rank: idx lists elements to send; at and n are a range of the halo.
type indexRun struct {
	rank  int
	at, n int
	idx   []int32
}

// requestHalo tells every rank which of its elements this rank needs. halo lists the elements in ascending order. All
// ranks call it.
func requestHalo(c Comm, cuts []int, halo []int32) (wanted, error) {
	var w wanted
	send := make([][]byte, c.Size())
	eachOwner(cuts, halo, func(r int, run []int32) {
		local := make([]int32, len(run))
		for k, j := range run {
			local[k] = j - int32(cuts[r])
		}
		send[r] = mem.Bytes(local)
		at := 0
		if n := len(w.in); n > 0 {
			at = w.in[n-1].at + w.in[n-1].n
		}
		w.in = append(w.in, indexRun{rank: r, at: at, n: len(run)})
	})
	received, err := c.Swap(send)
	if err != nil {
		return w, err
	}
	at := 0
	for r, b := range received {
		if n := len(b) / 4; n > 0 {
			idx, _ := mem.Slice[int32](b, int64(n))
			w.out = append(w.out, indexRun{rank: r, at: at, n: n, idx: idx})
			at += n
		}
	}
	return w, nil
}

// length returns the total number of elements of all runs.
func length(runs []indexRun) int {
	if len(runs) == 0 {
		return 0
	}
	last := runs[len(runs)-1]
	return last.at + last.n
}
