package form

import (
	"math"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// ExceedsLastCache reports whether that many bytes exceed the last-level cache, so that reading them evicts
// everything written before.
func ExceedsLastCache(bytes int64) bool { return bytes > LastCache() }

// LastCache returns the bytes of the last-level cache, or 32 MiB if the processor does not report
// it.
func LastCache() int64 {
	if last := int64(cpuid.CPU.Cache.L3); last > 0 {
		return last
	}
	return 32 << 20
}

// StoreRows is the last step of a product, with the same bits on all levels:
//
//	y[i] = fma(beta, y[i], alpha*sums[i])
//
// or alpha*sums[i] if beta is 0, which does not read y. A NaN is stored as the quiet NaN without a
// payload. With stream and beta = 0, whole aligned registers are written past the caches: Fence
// must follow before another goroutine reads y.
func StoreRows[V sparse.Value](l simd.Level, alpha, beta V, sums, y []V, stream bool) {
	sums = sums[:len(y)]
	if beta == 0 {
		beta = 0 // not -0: the kernels test its bits
	}
	stream = stream && beta == 0
	head, end := registers(l, y, stream)
	StoreRowsGeneric(alpha, beta, sums[:head], y[:head])
	if head < end {
		simd.ForType[*storeRowsTable[V]](storeRowsTables)[l.Index()]((end-head)/simd.Lanes[V](l), alpha, beta, &sums[head], &y[head], AsInt(stream))
	}
	StoreRowsGeneric(alpha, beta, sums[end:], y[end:])
}

// storeRowsTable, storePermutedRowsTable and permuteTable have kernels of whole registers, or slices with NEON, by
// Level.Index.
type (
	storeRowsTable[V sparse.Value]         [2]func(n int, alpha, beta V, sums, y *V, stream int)
	storePermutedRowsTable[V sparse.Value] [2]func(n int, alpha, beta V, at *uint16, sums, y *V, stream int)
	permuteTable[V sparse.Value]           [2]func(n int, at *uint16, from, to *V)
)

// AsInt returns 1 if b is true, and 0 otherwise.
func AsInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// registers returns the range head <= i < end of y that assembly stores by whole registers. With
// stream these are aligned.
func registers[V sparse.Value](l simd.Level, y []V, stream bool) (head, end int) {
	if l == simd.Generic {
		return 0, 0
	}
	if stream {
		head = min(ToRegister(l, y), len(y))
	}
	return head, len(y) - (len(y)-head)%simd.Lanes[V](l)
}

// StorePermutedRows is Finish for sums in another order. Positions are not checked.
//
//	y[i] = fma(beta, y[i], alpha*sums[at[i]])
func StorePermutedRows[V sparse.Value](l simd.Level, alpha, beta V, at []uint16, sums, y []V, stream bool) {
	at = at[:len(y)]
	if beta == 0 {
		beta = 0
	}
	stream = stream && beta == 0
	head, end := registers(l, y, stream)
	storePermutedRowsGeneric(alpha, beta, at[:head], sums, y[:head])
	if head < end {
		kernel := simd.ForType[*storePermutedRowsTable[V]](storePermutedRowsTables)[l.Index()]
		kernel((end-head)/simd.Lanes[V](l), alpha, beta, &at[head], unsafe.SliceData(sums), &y[head], AsInt(stream))
	}
	storePermutedRowsGeneric(alpha, beta, at[end:], sums, y[end:])
}

func storePermutedRowsGeneric[V sparse.Value](alpha, beta V, at []uint16, sums, y []V) {
	for i, k := range at {
		y[i] = RowValue(alpha, beta, sums[k], y[i])
	}
}

// StoreRowsGeneric is StoreRows in plain Go.
func StoreRowsGeneric[V sparse.Value](alpha, beta V, sums, y []V) {
	y = y[:len(sums)]
	if beta != 0 {
		for i, s := range sums {
			y[i] = RowValue(alpha, beta, s, y[i])
		}
		return
	}
	for i, s := range sums {
		v := alpha * s
		if v != v {
			v = RowValue(alpha, 0, s, 0)
		}
		y[i] = v
	}
}

// RowValue returns the result of Finish for one element.
func RowValue[V sparse.Value](alpha, beta, sum, y V) V {
	v := alpha * sum
	if beta != 0 {
		v = FMA(beta, y, v)
	}
	if v != v {
		v = V(math.Float64frombits(0x7FF8000000000000))
	}
	return v
}

// ToRegister returns the number of elements of y before the first one that is aligned to a
// register.
func ToRegister[V sparse.Value](l simd.Level, y []V) int {
	lanes := simd.Lanes[V](l)
	if len(y) == 0 {
		return 0
	}
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(y))) / unsafe.Sizeof(y[0]) % uintptr(lanes))
	return (lanes - at) % lanes
}

// Permute sets to[i] = from[at[i]] for all i < len(at). Positions are not checked.
func Permute[V sparse.Value](l simd.Level, at []uint16, from, to []V) {
	to = to[:len(at)]
	if n := len(at) / simd.Lanes[V](l); l != simd.Generic && n > 0 {
		simd.ForType[*permuteTable[V]](permuteTables)[l.Index()](n, &at[0], unsafe.SliceData(from), &to[0])
		n *= simd.Lanes[V](l)
		at, to = at[n:], to[n:]
	}
	for i, k := range at {
		to[i] = from[k]
	}
}

// Prefetch prefetches the elements from <= i < to of x.
func Prefetch[V sparse.Value](l simd.Level, x []V, from, to int) {
	if l >= simd.AVX2 && from < to {
		loadAhead(BytesFrom(x[:to], from), ((to-from)*int(unsafe.Sizeof(x[0]))+63)/64)
	}
}

// Fence makes stores past the caches visible to other goroutines.
func Fence(l simd.Level) {
	if l >= simd.AVX2 {
		fence()
	}
}

// These have no kernels on processors without assembly.
var (
	storeRowsTables, storePermutedRowsTables, permuteTables, outOfRangeTables simd.Kernels
)
