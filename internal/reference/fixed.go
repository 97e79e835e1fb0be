package reference

import (
	"math"
	"math/big"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Fixed computes y = alpha*A*x + beta*y as kernels.MajorProductFixed specifies it: every
// device must return the same bits.
func Fixed[V sparse.Value](alpha V, a *sparse.CSR[V], x []V, beta V, y []V) []V {
	out := make([]V, a.Rows)
	for r := range out {
		k, end := a.RowPtr[r]-a.RowPtr[0], a.RowPtr[r+1]-a.RowPtr[0]
		v := alpha * FixedSum(a.ColIdx[k:end], a.Val[k:end], x)
		if beta != 0 {
			v = FMA(beta, y[r], v)
		}
		if v != v {
			v = V(math.Float64frombits(0x7FF8000000000000)) // math.NaN has a payload
		}
		out[r] = v
	}
	return out
}

// FixedSum returns the sum of a row of kernels.MajorProductFixed.
func FixedSum[V sparse.Value](idx []int32, val, x []V) V {
	var stripe [kernels.FixedStripes]V
	for chunk := 0; ; chunk++ {
		n := min(kernels.FixedChunk, len(idx))
		sum := V(0)
		for k, c := range idx[:n] {
			sum = FMA(val[k], x[c], sum)
		}
		idx, val = idx[n:], val[n:]
		if chunk == 0 && len(idx) == 0 {
			return sum
		}
		stripe[chunk%len(stripe)] += sum
		if len(idx) == 0 {
			break
		}
	}
	for d := len(stripe) / 2; d > 0; d /= 2 {
		for g := range d {
			stripe[g] += stripe[g+d]
		}
	}
	return stripe[0]
}

// FMA returns a*b + c, rounded once. For float32 it uses exact arithmetic if the sum in
// float64 is the midpoint of two float32.
func FMA[V sparse.Value](a, b, c V) V {
	u, v, w := float64(a), float64(b), float64(c)
	if _, double := any(a).(float64); double {
		return V(math.FMA(u, v, w))
	}
	plain := u*v + w                         // the product is exact
	const below, middle = 1<<29 - 1, 1 << 28 // of the bits that float64 has and float32 lacks
	if normal := math.Abs(plain) >= 0x1p-125; plain == 0 || plain != plain || normal && math.Float64bits(plain)&below != middle {
		return V(plain)
	}
	sum := new(big.Float).SetPrec(1000)
	sum.Mul(sum.SetFloat64(u), new(big.Float).SetFloat64(v)).Add(sum, new(big.Float).SetFloat64(w))
	out, _ := sum.Float32()
	return V(out)
}
