package spgemm

import (
	"math/bits"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// hash is an accumulator in a hash table with open addressing. Between rows, each key is 0.
type hash[V sparse.Value] struct {
	keys   []uint32 // column + 1, or 0
	sums   []V
	used   []uint64 // column and place of each key: column<<32 | place
	sorted []uint64 // memory to sort used
}

const minTable = 64

// table returns a table for up to n keys, at least half of which stays free, and the shift of its hash function.
func (h *hash[V]) table(n int64) (keys []uint32, sums []V, shift int) {
	log := bits.Len64(uint64(max(2*n, minTable) - 1))
	if size := 1 << log; size > len(h.keys) {
		h.keys, h.sums = make([]uint32, size), make([]V, size)
	}
	return h.keys[:1<<log], h.sums[:1<<log], 32 - log
}

// place returns the place of column c, or the free place where it belongs.
func place(keys []uint32, shift int, c int32) uint32 {
	mask := uint32(len(keys) - 1)
	at := uint32(c) * 0x9e3779b1 >> shift
	for keys[at&mask] != 0 && keys[at&mask] != uint32(c)+1 {
		at++
	}
	return at & mask
}

// columns is accumulator.columns.
func (h *hash[V]) columns(b *sparse.CSR[V], row []int32, products int64, cols []int32) int {
	keys, _, shift := h.table(products)
	h.used = h.used[:0]
	for _, k := range row {
		for _, c := range b.ColIdx[b.RowPtr[k]:b.RowPtr[k+1]] {
			if at := place(keys, shift, c); keys[at] == 0 {
				keys[at] = uint32(c) + 1
				h.used = append(h.used, uint64(c)<<32|uint64(at))
			}
		}
	}
	h.sort()
	for n, u := range h.used {
		cols[n] = int32(u >> 32)
		keys[uint32(u)] = 0
	}
	return len(h.used)
}

// gather is dense.gather.
func (h *hash[V]) gather(b *sparse.CSR[V], row []int32, by []V, cols []int32, vals []V) {
	keys, sums, shift := h.table(int64(len(cols)))
	h.used = h.used[:0]
	for i, k := range row {
		first, end := b.RowPtr[k], b.RowPtr[k+1]
		for l := first; l < end; l++ {
			at := place(keys, shift, b.ColIdx[l])
			if p := V(by[i] * b.Val[l]); keys[at] == 0 {
				keys[at], sums[at] = uint32(b.ColIdx[l])+1, p
			} else {
				sums[at] += p
			}
		}
	}
	for n, c := range cols {
		at := place(keys, shift, c)
		vals[n] = sums[at]
	}
	clear(keys)
}

// insertionColumns is the largest number of columns that are sorted by comparison. More are sorted by radix.
const insertionColumns = 192

// sort sorts used by column.
func (h *hash[V]) sort() {
	if len(h.used) <= insertionColumns {
		slices.Sort(h.used)
		return
	}
	all := uint64(0)
	for _, u := range h.used {
		all |= u
	}
	from, to := h.used, slices.Grow(h.sorted[:0], len(h.used))[:len(h.used)]
	for shift := 32; all>>shift != 0; shift += 8 {
		var next [256]int
		for _, u := range from {
			next[uint8(u>>shift)]++
		}
		sum := 0
		for d, n := range next {
			next[d] = sum
			sum += n
		}
		for _, u := range from {
			d := uint8(u >> shift)
			to[next[d]] = u
			next[d]++
		}
		from, to = to, from
	}
	h.used, h.sorted = from, to
}
