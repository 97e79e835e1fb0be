package runs

import "math/bits"

// runEnds returns runsBuilder.ends. It has no branch per entry, because such branches would be
// unpredictable.
func runEnds(ptr []int64, idx []int32) []uint64 {
	ends := make([]uint64, len(idx)/64+2)
	for w := range len(idx) / 64 {
		c, word := (*[64]int32)(idx[w*64:]), uint64(0)
		for j := range 63 {
			word = word>>1 | jumps(c[j], c[j+1])<<63
		}
		ends[w] = word >> 1
		if next := w*64 + 64; next < len(idx) {
			ends[w] |= jumps(c[63], idx[next]) << 63
		}
	}
	for k := len(idx) / 64 * 64; k+1 < len(idx); k++ {
		ends[k/64] |= jumps(idx[k], idx[k+1]) << (k % 64)
	}
	for i, p := range ptr[1:] {
		if p > ptr[i] {
			k := p - 1 - ptr[0]
			ends[k/64] |= 1 << (k % 64)
		}
	}
	return ends
}

// jumps returns 0 if next is c+1, and 1 otherwise.
func jumps(c, next int32) uint64 {
	x := uint32(next - c - 1)
	return uint64((x | -x) >> 31)
}

// entriesOf returns the range of the entries of a row: k <= i < end.
func (b *runsBuilder[V]) entriesOf(row int) (k, end int) {
	return int(b.r.At(row)), int(b.r.At(row + 1))
}

// countPieces returns about the number of pieces of a row: a long run may have one more or one
// less.
func (b *runsBuilder[V]) countPieces(row int) (n int) {
	k, end := b.entriesOf(row)
	for ; k < end; k += 64 {
		word := b.endsFrom(k)
		valid := ^uint64(0) >> (64 - min(end-k, 64))
		n += bits.OnesCount64(word & valid)
		// more has a bit for each entry that is followed by b.columns entries of its run.
		more := ^word & valid
		for n := 1; n < b.columns; n *= 2 {
			more &= more >> n
		}
		if more != 0 {
			runs := bits.OnesCount64(more &^ (more << 1))
			n += runs + (bits.OnesCount64(more)-runs)/b.columns
		}
	}
	return n
}

// runFrom returns a mask with one bit for entry k and one for each entry that follows it in its
// run, at most b.columns bits.
func (b *runsBuilder[V]) runFrom(k int) uint8 {
	first := b.endsFrom(k) | 1<<(b.columns-1)
	return uint8(first ^ (first - 1)) // up to the first end
}

// endsFrom returns the bits of the 64 entries from k on.
func (b *runsBuilder[V]) endsFrom(k int) uint64 {
	at, shift := k/64, k%64
	return b.ends[at]>>shift | b.ends[at+1]<<1<<(63-shift)
}
