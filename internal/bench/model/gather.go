package model

import "math/bits"

// ways is the associativity of the cache that Gather models.
const ways = 4

// sector is the smallest read of a GPU from memory, in bytes.
const sector = 32

// Gather returns the bytes that reading x[colIdx[k]] for all k in order moves from memory through a 4-way cache with
// sectors of 32 bytes and least-recently-used replacement. It takes half of cacheBytes as full of the matrix, which
// streams through the cache. Elements have 8 bytes.
//
// A GPU reads many rows at once, so its order and its traffic may differ.
func Gather(colIdx []int32, cacheBytes int64) int64 {
	return sector * misses(colIdx, cacheBytes, sector)
}

// misses is the number of pieces of x that Gather reads from memory, for pieces of any size.
func misses(colIdx []int32, cacheBytes, piece int64) int64 {
	sets := uint32(max(cacheBytes/2/piece/ways, 1))
	sets = 1 << (bits.Len32(sets) - 1)
	tags := make([][ways]int32, sets) // piece+1, most recently used first
	count := int64(0)
	elements := int32(piece / 8)
	for _, c := range colIdx {
		line := c/elements + 1
		set := &tags[uint32(line)*2654435761>>8&(sets-1)] // Knuth's multiplicative hash
		k := 0
		for k < ways-1 && set[k] != line {
			k++
		}
		if set[k] != line {
			count++
		}
		copy(set[1:k+1], set[:k])
		set[0] = line
	}
	return count
}
