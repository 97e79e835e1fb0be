package model

import "math/bits"

// ways of the cache that Gather models.
const ways = 4

// sector is the least that a GPU reads from memory, in bytes.
const sector = 32

// Gather counts the bytes that reading x[colIdx[k]] for all k in order brings from
// memory through a cache of so many bytes with 4 ways and sectors of 32 bytes, of
// which the least recently used is replaced. Half of the cache is taken to be full
// of the matrix, which passes through it. Elements have 8 bytes.
//
// On a GPU many rows are read at once: the order differs, and so may the traffic.
func Gather(colIdx []int32, cacheBytes int64) int64 {
	sets := uint32(max(cacheBytes/2/sector/ways, 1))
	sets = 1 << (bits.Len32(sets) - 1)
	tags := make([][ways]int32, sets) // sector+1, the latest first
	misses := int64(0)
	for _, c := range colIdx {
		line := c/(sector/8) + 1
		set := &tags[uint32(line)*2654435761>>8&(sets-1)] // Knuth's multiplicative hash
		k := 0
		for k < ways-1 && set[k] != line {
			k++
		}
		if set[k] != line {
			misses++
		}
		copy(set[1:k+1], set[:k])
		set[0] = line
	}
	return sector * misses
}
