package cpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// gatherFixed runs kernels.GatherFixed. Workers share the rows; none is cut.
func gatherFixed[V sparse.Value](d *Device, op *kernels.GatherFixed[V]) (err error) {
	v := newViews(d)
	defer v.close(&err)
	a := viewCompressed(v, op.A)
	x := view(v, "x", op.X, op.X.Len)
	y := view(v, "y", op.Y, int64(op.A.Part.OwnEnd-op.A.Part.OwnFirst))
	if v.err != nil {
		return v.err
	}
	rows := len(a.ptr) - 1
	if a.part.StartFlag || a.ptr[rows] != a.part.EndIdx+1 {
		return fmt.Errorf("%w: part %+v does not hold whole rows", kernels.ErrArgument, a.part)
	}
	n := d.workers(a.part)
	return d.pool.run(n, func(i int) {
		lo, hi := wholeRows(a.ptr, n, i), wholeRows(a.ptr, n, i+1)
		a.multiplyFixed(lo, hi, op.Alpha, op.Beta, x, y)
	})
}

// wholeRows is where piece i of parts begins, so that rows and entries together are
// shared out evenly.
func wholeRows(ptr []int64, parts, i int) int {
	rows := len(ptr) - 1
	want := par.Cut(ptr[rows]-ptr[0]+int64(rows), parts, i)
	r, _ := slices.BinarySearchFunc(ptr[:rows], want, func(p, want int64) int { return int(min(max(p-want, -1), 1)) })
	return r
}

// quietNaN is the NaN that every device stores.
var quietNaN = math.Float64frombits(0x7FF8000000000000)

// multiplyFixed computes the rows [lo, hi).
func (a compressed[V]) multiplyFixed(lo, hi int, alpha, beta V, x, y []V) {
	k := a.ptr[lo] - a.part.StartIdx
	for r := lo; r < hi; r++ {
		end := a.ptr[r+1] - a.part.StartIdx
		sum := float64(alpha) * fixedSum(a.idx[k:end], a.val[k:end], x)
		if beta != 0 {
			sum = math.FMA(float64(beta), float64(y[r]), sum)
		}
		if sum != sum {
			sum = quietNaN
		}
		y[r], k = V(sum), end
	}
}

// fixedSum is the sum of val[k]*x[idx[k]] in the shape of kernels.GatherFixed.
func fixedSum[V sparse.Value](idx []int32, val, x []V) float64 {
	if len(idx) <= kernels.FixedChunk {
		return fixedChunk(idx, val, x)
	}
	var s [kernels.FixedStripes]float64
	for g := 0; len(idx) > 0; g = (g + 1) % len(s) {
		n := min(kernels.FixedChunk, len(idx))
		s[g] += fixedChunk(idx[:n], val[:n], x)
		idx, val = idx[n:], val[n:]
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// fixedChunk is the sum of a chunk. The products of float32 are exact in float64.
func fixedChunk[V sparse.Value](idx []int32, val, x []V) float64 {
	val = val[:len(idx)]
	var s0, s1, s2, s3 float64
	for len(idx) >= 4 {
		c, v := idx[:4:4], val[:4:4]
		s0 = math.FMA(float64(v[0]), float64(x[c[0]]), s0)
		s1 = math.FMA(float64(v[1]), float64(x[c[1]]), s1)
		s2 = math.FMA(float64(v[2]), float64(x[c[2]]), s2)
		s3 = math.FMA(float64(v[3]), float64(x[c[3]]), s3)
		idx, val = idx[4:], val[4:]
	}
	val = val[:len(idx)]
	switch len(idx) {
	case 3:
		s2 = math.FMA(float64(val[2]), float64(x[idx[2]]), s2)
		fallthrough
	case 2:
		s1 = math.FMA(float64(val[1]), float64(x[idx[1]]), s1)
		fallthrough
	case 1:
		s0 = math.FMA(float64(val[0]), float64(x[idx[0]]), s0)
	}
	return (s0 + s1) + (s2 + s3)
}
