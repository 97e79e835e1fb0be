package simd

import (
	"encoding/binary"
	"math"

	"github.com/msrep-go/msrep/sparse/cpms"
)

// SliceRows is the number of rows of a slice of HeadSlices.
const SliceRows = 8

// JoinSegments reads values from their first k segments:
//
//	dst[i] = value first+i of a
func JoinSegments(l Level, dst []float64, a *cpms.Array, first, k int) {
	for len(dst) > 0 {
		at, step, run := a.Run(first)
		run = min(run, len(dst))
		done := 0
		if l >= AVX2 && run >= 8 {
			done = run &^ 7
			joinSegments(l, dst[:done], a, at, step, k)
		}
		if done < run {
			a.Read(dst[done:run], first+done, k)
		}
		dst, first = dst[run:], first+run
	}
}

// HeadRows sums rows of a CSR matrix:
//
//	y[r] = sum over k of val[k]*x[idx[k]],  ptr[r]-ptr[0] <= k < ptr[r+1]-ptr[0]
//
// or of x[idx[k]] alone when val is nil. ptr has len(y)+1 elements, and every index
// must be one of x: they are not looked at.
func HeadRows(l Level, y []float64, ptr []int64, idx []int32, val []float64, x *cpms.Heads) {
	ptr = ptr[:len(y)+1]
	idx = idx[:ptr[len(y)]-ptr[0]]
	if val != nil {
		val = val[:len(idx)]
	}
	if l >= AVX2 && len(idx) > 0 {
		headRows(y, ptr, idx, val, x)
		return
	}
	base := ptr[0]
	for r := range y {
		lo, hi := ptr[r]-base, ptr[r+1]-base
		if val == nil {
			y[r] = headSum(idx[lo:hi], x)
		} else {
			y[r] = headDot(idx[lo:hi], val[lo:hi], x)
		}
	}
}

// headDot is the sum of val[k]*x[idx[k]].
func headDot(idx []int32, val []float64, x *cpms.Heads) (sum float64) {
	if f := x.Floats(); f != nil {
		return Dot(idx, val, f)
	}
	val = val[:len(idx)]
	tails, width, mask := x.Tails(), x.Width(), cpms.HeadMask(x.Width())
	for k, j := range idx {
		sum += val[k] * head(tails, width, mask, int(j))
	}
	return sum
}

// headSum is the sum of x[idx[k]].
func headSum(idx []int32, x *cpms.Heads) (sum float64) {
	if f := x.Floats(); f != nil {
		for _, j := range idx {
			sum += f[j]
		}
		return sum
	}
	tails, width, mask := x.Tails(), x.Width(), cpms.HeadMask(x.Width())
	for _, j := range idx {
		sum += head(tails, width, mask, int(j))
	}
	return sum
}

func head(tails []byte, width int, mask uint64, j int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(tails[width*j:]) & mask)
}

// HeadSlices adds the rows of slices of SliceRows rows each to y:
//
//	y[8s+i] += sum over t < count[8s+i] of val[k]*x[idx[k]],  k = off[s]-off[0] + 8t + i
//
// or of x[idx[k]] alone when val is nil. A row takes part with count entries; the
// places beyond are not used, but their indices must be some of x. y and count have
// 8 elements for each slice, off one more than there are slices.
func HeadSlices(l Level, y []float64, count []int32, off []int64, idx []int32, val []float64, x *cpms.Heads) {
	slices := len(off) - 1
	y, count = y[:slices*SliceRows], count[:slices*SliceRows]
	idx = idx[:off[slices]-off[0]]
	if val != nil {
		val = val[:len(idx)]
	}
	if l >= AVX2 && len(idx) > 0 {
		headSlices(l, y, count, off, idx, val, x)
		return
	}
	for s := range slices {
		first := int(off[s] - off[0])
		for i := range SliceRows {
			sum := 0.0
			for t := range int(count[s*SliceRows+i]) {
				k := first + SliceRows*t + i
				if val == nil {
					sum += x.At(int(idx[k]))
				} else {
					sum += val[k] * x.At(int(idx[k]))
				}
			}
			y[s*SliceRows+i] += sum
		}
	}
}

// Rank ends a step of PageRank for a block of nodes, of which sum is what came in:
//
//	p = damping*sum[i] + add,  next[first+i] = p / degree[i],  diff += |next*degree - cur[first+i]*degree|
//
// next is cut to its width, and diff is of what it then is. degree nil stands for
// ones; else it has an element for each of sum.
func Rank(l Level, sum []float64, cur, next *cpms.Heads, first int, degree []int32, damping, add float64) (diff float64) {
	if first < 0 || len(sum) > min(cur.Len(), next.Len())-first || (degree != nil && len(degree) != len(sum)) {
		panic("simd: a block of nodes that the vectors do not have")
	}
	done := 0
	if l >= AVX2 {
		done, diff = rank(sum, cur, next, first, degree, damping, add)
	}
	for i := done; i < len(sum); i++ {
		p, d := damping*sum[i]+add, 1.0
		if degree != nil {
			d = float64(degree[i])
			p /= d
		}
		next.Set(first+i, p)
		diff += math.Abs(next.At(first+i)-cur.At(first+i)) * d
	}
	return diff
}
