package simd

import (
	"math"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/sparse"
)

// Beyond reports whether so many bytes are more than the last cache holds, so that
// nothing written before they are read is still there after.
func Beyond(bytes int64) bool { return bytes > LastCache() }

// LastCache is the bytes of the last cache, 32 MiB where the processor does not say.
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
// or alpha*sums[i] where beta is 0, which does not read y. A NaN is stored as the
// quiet one without a payload. With stream and beta = 0 stores go past the caches,
// but for the elements before and behind whole registers: Fence must follow before
// another goroutine may look at y.
func StoreRows[V sparse.Value](l Level, alpha, beta V, sums, y []V, stream bool) {
	sums = sums[:len(y)]
	if beta == 0 {
		beta = 0 // not -0: the kernels look at its bits
	}
	stream = stream && beta == 0
	head, end := registers(l, y, stream)
	finishGeneric(alpha, beta, sums[:head], y[:head])
	if head < end {
		of[*finishTable[V]](finishTables)[l-AVX2]((end-head)/Lanes[V](l), alpha, beta, &sums[head], &y[head], past(stream))
	}
	finishGeneric(alpha, beta, sums[end:], y[end:])
}

// finishTable, finishFromTable and permuteTable are kernels of whole registers, by Level-AVX2.
type (
	finishTable[V sparse.Value]     [2]func(n int, alpha, beta V, sums, y *V, stream int)
	finishFromTable[V sparse.Value] [2]func(n int, alpha, beta V, at *uint16, sums, y *V, stream int)
	permuteTable[V sparse.Value]    [2]func(n int, at *uint16, from, to *V)
)

// past is 1 for stores past the caches.
func past(stream bool) int {
	if stream {
		return 1
	}
	return 0
}

// registers is the elements [head, end) of y that assembly stores by whole registers, at multiples
// of their size with stream.
func registers[V sparse.Value](l Level, y []V, stream bool) (head, end int) {
	if l == Generic {
		return 0, 0
	}
	if stream {
		head = min(toRegister(l, y), len(y))
	}
	return head, len(y) - (len(y)-head)%Lanes[V](l)
}

// StorePermutedRows is Finish for sums in another order, whose places are not checked:
//
//	y[i] = fma(beta, y[i], alpha*sums[at[i]])
func StorePermutedRows[V sparse.Value](l Level, alpha, beta V, at []uint16, sums, y []V, stream bool) {
	at = at[:len(y)]
	if beta == 0 {
		beta = 0
	}
	stream = stream && beta == 0
	head, end := registers(l, y, stream)
	finishFromGeneric(alpha, beta, at[:head], sums, y[:head])
	if head < end {
		kernel := of[*finishFromTable[V]](finishFromTables)[l-AVX2]
		kernel((end-head)/Lanes[V](l), alpha, beta, &at[head], unsafe.SliceData(sums), &y[head], past(stream))
	}
	finishFromGeneric(alpha, beta, at[end:], sums, y[end:])
}

func finishFromGeneric[V sparse.Value](alpha, beta V, at []uint16, sums, y []V) {
	for i, k := range at {
		y[i] = RowValue(alpha, beta, sums[k], y[i])
	}
}

func finishGeneric[V sparse.Value](alpha, beta V, sums, y []V) {
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

// RowValue is Finish for one element.
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

// toRegister is the number of elements of y before the first at a multiple of the
// size of a register, where stores may go past the caches.
func toRegister[V sparse.Value](l Level, y []V) int {
	lanes := Lanes[V](l)
	if len(y) == 0 {
		return 0
	}
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(y))) / unsafe.Sizeof(y[0]) % uintptr(lanes))
	return (lanes - at) % lanes
}

// Permute is to[i] = from[at[i]] for all of at. Places are not checked.
func Permute[V sparse.Value](l Level, at []uint16, from, to []V) {
	to = to[:len(at)]
	if n := len(at) / Lanes[V](l); l != Generic && n > 0 {
		of[*permuteTable[V]](permuteTables)[l-AVX2](n, &at[0], unsafe.SliceData(from), &to[0])
		n *= Lanes[V](l)
		at, to = at[n:], to[n:]
	}
	for i, k := range at {
		to[i] = from[k]
	}
}

// LoadAhead asks for the elements of x in [from, to), which are used soon.
func LoadAhead[V sparse.Value](l Level, x []V, from, to int) {
	if l != Generic && from < to {
		loadAhead(bytesFrom(x[:to], from), ((to-from)*int(unsafe.Sizeof(x[0]))+63)/64)
	}
}

// Fence makes what Finish and MultiplyDiagonals wrote visible to all.
func Fence(l Level) {
	if l != Generic {
		fence()
	}
}
