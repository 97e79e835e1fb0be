package ptx

import "sync/atomic"

// bitmap is a bit per byte of memory. Runs of bits are at most 8 long and within
// an aligned word, as aligned accesses are. Words are read and set atomically,
// for blocks that run side by side.
type bitmap []uint64

func newBitmap(n int64) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(off int64, n int) bool {
	want := (uint64(1)<<n - 1) << (off & 63)
	return atomic.LoadUint64(&b[off>>6])&want == want
}

// all says whether n bits from off on are set.
func (b bitmap) all(off, n int64) bool {
	for ; n > 0 && off%64 != 0; off, n = off+1, n-1 {
		if !b.has(off, 1) {
			return false
		}
	}
	for ; n >= 64; off, n = off+64, n-64 {
		if b[off/64] != ^uint64(0) {
			return false
		}
	}
	for ; n > 0; off, n = off+1, n-1 {
		if !b.has(off, 1) {
			return false
		}
	}
	return true
}

func (b bitmap) set(off int64, n int) {
	want := (uint64(1)<<n - 1) << (off & 63)
	if atomic.LoadUint64(&b[off>>6])&want != want {
		atomic.OrUint64(&b[off>>6], want)
	}
}
