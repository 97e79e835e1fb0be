package incomplete

import "math/bits"

// queue is a set of integers from 0 to n-1 whose smallest member can be taken. It is a tree of bits: a bit of a level
// says that a word of the level below is not zero.
type queue struct {
	level [][]uint64 // level[0] has a bit for each member
}

func newQueue(n int) *queue {
	q := &queue{}
	for words := (n + 63) / 64; ; words = (words + 63) / 64 {
		q.level = append(q.level, make([]uint64, max(words, 1)))
		if words <= 1 {
			return q
		}
	}
}

// add adds k, which may be a member.
func (q *queue) add(k int) {
	for _, words := range q.level {
		w := &words[k>>6]
		was := *w
		*w |= 1 << (k & 63)
		if was != 0 {
			return
		}
		k >>= 6
	}
}

// take removes the smallest member, and returns -1 if there is none.
func (q *queue) take() int {
	top := len(q.level) - 1
	if q.level[top][0] == 0 {
		return -1
	}
	k := 0
	for l := top; l >= 0; l-- {
		k = k<<6 | bits.TrailingZeros64(q.level[l][k])
	}
	for rest, l := k, 0; l <= top; l++ {
		w := &q.level[l][rest>>6]
		*w &^= 1 << (rest & 63)
		if *w != 0 {
			break
		}
		rest >>= 6
	}
	return k
}
