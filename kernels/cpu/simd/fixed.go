package simd

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// FixedRows is Rows with sums of one shape on all levels, that of a chunk of
// kernels.GatherFixed: the assembly of Rows sums so, and what stands in for it here
// does the same entry by entry.
func FixedRows[V sparse.Value](l Level, alpha, beta V, ptr []int64, idx []int32, val, x, y []V) {
	ptr = ptr[:len(y)+1]
	val = val[:len(idx)]
	done := 0
	if l >= AVX2 {
		done = rowsAVX2(alpha, beta, ptr, idx, val, x, y)
	}
	k := ptr[done] - ptr[0]
	for r := done; r < len(y); r++ {
		end := ptr[r+1] - ptr[0]
		sum := alpha * fixedSum(idx[k:end], val[k:end], x)
		if beta != 0 {
			sum = FMA(beta, y[r], sum)
		}
		y[r], k = sum, end
	}
}

// fixedSum is the sum of val[k]*x[idx[k]]: in eight lanes as far as there are eight
// entries, then one by one.
func fixedSum[V sparse.Value](idx []int32, val, x []V) V {
	val = val[:len(idx)]
	var lane [8]V
	whole := len(idx) &^ 7
	for k := range whole {
		lane[k%8] = FMA(val[k], x[idx[k]], lane[k%8])
	}
	if _, single := any(lane[0]).(float32); single {
		for j := range lane {
			lane[j] += 0 // -0 becomes 0: the assembly adds a register that it does not use
		}
	}
	for d := 4; d > 0; d /= 2 {
		for j := range d {
			lane[j] += lane[j+d]
		}
	}
	sum := lane[0]
	for k := whole; k < len(idx); k++ {
		sum = FMA(val[k], x[idx[k]], sum)
	}
	return sum
}

// FMA is a*b + c, rounded once.
func FMA[V sparse.Value](a, b, c V) V {
	if _, single := any(a).(float32); single {
		return V(fma32(float32(a), float32(b), float32(c)))
	}
	return V(math.FMA(float64(a), float64(b), float64(c)))
}

// fma32 rounds the sum to odd in float64, which has more than twice the bits of
// float32: rounding that again gives what rounding once would (Boldo and Melquiond,
// 2008).
func fma32(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c) // the product is exact
	s := p + d
	v := s - p
	e := (p - (s - v)) + (d - v) // s + e is the exact sum (Knuth)
	bits := math.Float64bits(s)
	if e != 0 && bits&1 == 0 && !math.IsInf(s, 0) && !math.IsNaN(s) {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}
