package ptx

import "sync/atomic"

// bitmap has one bit for each byte of memory. has and set handle at most 8 bits that
// lie in one aligned word, because accesses are aligned. Words are read and set
// atomically, because blocks may run at the same time.
type bitmap []uint64

func newBitmap(n int64) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(off int64, n int) bool {
	want := (uint64(1)<<n - 1) << (off & 63)
	return atomic.LoadUint64(&b[off>>6])&want == want
}

// all reports whether the n bits from off are set.
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
