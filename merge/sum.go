package merge

import (
	"math/bits"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// chunk is the number of elements of y that Sum finishes before the next ones. That many,
// and their partial sums of all levels, fit into the first-level cache.
const chunk = 512

// Sum adds partial vectors to y:
//
//	y = beta*y + sum of partials[i]
//
// Each partial vector is as long as y and must not overlap it. Sum does not change them.
// The sum over i is a tree of fixed shape, pairs at strides 1, 2, 4, ...: for five vectors
// ((p0+p1)+(p2+p3))+p4. For p vectors each value goes through at most ceil(log2 p)
// additions, which bounds the rounding error, and the bits of the sum do not depend on the
// number of goroutines. If beta = 0 Sum does not read y. Without partial vectors, Sum
// computes y = beta*y.
//
// Sum fails with a *sparse.InputError, and does not change y, if a length differs.
func Sum[V sparse.Value](y []V, beta V, partials [][]V) error {
	if err := checkLengths(len(y), partials); err != nil {
		return err
	}
	if len(partials) == 0 {
		Scale(y, beta)
		return nil
	}
	levels := bits.Len(uint(len(partials)))
	par.Range(int64(len(y)), 1<<13, func(lo, hi int64) {
		scratch := make([]V, levels*chunk)
		in := make([][]V, len(partials))
		for ; lo < hi; lo += chunk {
			to := min(lo+chunk, hi)
			for i, p := range partials {
				in[i] = p[lo:to]
			}
			sumChunk(y[lo:to], beta, in, scratch)
		}
	})
	return nil
}

// SumSerial is Sum on one goroutine. It adds one vector after the other, as the unoptimised
// strategy of the MSREP paper does, so its rounding differs from that of Sum.
func SumSerial[V sparse.Value](y []V, beta V, partials [][]V) error {
	if err := checkLengths(len(y), partials); err != nil {
		return err
	}
	Scale(y, beta)
	for _, p := range partials {
		scaleAdd(y, 1, p)
	}
	return nil
}

func checkLengths[V sparse.Value](m int, partials [][]V) error {
	for i, p := range partials {
		if len(p) != m {
			return sparse.Inputf("partials", "vector %d has %d elements: y has %d", i, len(p), m)
		}
	}
	return nil
}

func sumChunk[V sparse.Value](y []V, beta V, in [][]V, scratch []V) {
	if beta == 0 {
		tree(y, in, scratch)
		return
	}
	sum := scratch[:len(y)]
	tree(sum, in, scratch[chunk:])
	scaleAdd(y, beta, sum)
}

// tree computes dst = sum of in, for at most chunk elements. scratch holds one chunk for
// each level of a subtree: bits.Len(len(in))-1 are enough.
func tree[V sparse.Value](dst []V, in [][]V, scratch []V) {
	switch len(in) {
	case 1:
		copy(dst, in[0])
	case 2:
		add2(dst, in[0], in[1])
	case 3:
		add2(dst, in[0], in[1])
		scaleAdd(dst, 1, in[2])
	case 4:
		add4(dst, in[0], in[1], in[2], in[3])
	case 8:
		add8(dst, in)
	default:
		half := 1 << (bits.Len(uint(len(in)-1)) - 1) // the largest power of two below len(in)
		tree(dst, in[:half], scratch)
		right := scratch[:len(dst)]
		tree(right, in[half:], scratch[chunk:])
		scaleAdd(dst, 1, right)
	}
}

func add2[V sparse.Value](dst, a, b []V) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

func add4[V sparse.Value](dst, a, b, c, d []V) {
	a, b, c, d = a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
	for i := range dst {
		dst[i] = (a[i] + b[i]) + (c[i] + d[i])
	}
}

func add8[V sparse.Value](dst []V, in [][]V) {
	n := len(dst)
	a, b, c, d := in[0][:n], in[1][:n], in[2][:n], in[3][:n]
	e, f, g, h := in[4][:n], in[5][:n], in[6][:n], in[7][:n]
	for i := range dst {
		dst[i] = ((a[i] + b[i]) + (c[i] + d[i])) + ((e[i] + f[i]) + (g[i] + h[i]))
	}
}
