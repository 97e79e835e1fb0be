package tiles

import "github.com/msrep-go/msrep/sparse"

// tileArgs are the arguments of the kernels of AddTile, which compute, with one rounding each,
//
//	for k := range n {
//		acc[entries[k]>>16] += value(k) * x[entries[k]&0xffff]
//	}
//
// Those of transposed tiles exchange entries[k]>>16 and entries[k]&0xffff.
type tileArgs[V sparse.Value] struct {
	acc, x   *V
	entries  *uint32
	values   *byte
	n        int
	ahead    *V  // prefetched from here on
	lines    int // of 64 bytes to prefetch in all
	perRound int // lines to prefetch for every 8 entries, at least 1
}

// manyTileArgs are the arguments of the kernels of AddTileMany, which compute for one register of columns j
//
//	for k := range n {
//		acc[entries[k]>>16][j] += val[k] * x[entries[k]&0xffff][j]
//	}
type manyTileArgs[V sparse.Value] struct {
	n       int
	more    int // entries that are readable after the last one, at most tileAhead
	entries *uint32
	val, x  *V
	ldx     int // bytes from one row of x to the next
	acc     *V
	lda     int     // bytes from one row of acc to the next
	last    int     // elements of a row of x
	next    *uint32 // unless nil, the rows of nextX of n entries from here on are prefetched
	nextX   *V
}
