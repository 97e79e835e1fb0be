package slices

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// multiplyEight adds the entries of 8 lanes of n slices, from lane first on, to their sums. If add
// is false, the sums start with 0.
//
//	sums[s*lanes+first+i] += sum over the entries k of lane first+i of slice s of val[k]*x[idx[k]],  i < 8
//
// val and idx begin with those of the first slice. Nothing is checked, as in assembly.
func multiplyEight[V sparse.Value, I uint16 | int32](widths []uint32, masks []uint16, val []V, idx []I, lanes, first int, x, sums []V, add bool) {
	vp, ip, xp := unsafe.Pointer(unsafe.SliceData(val)), unsafe.Pointer(unsafe.SliceData(idx)), unsafe.SliceData(x)
	k, mask := first, 0
	for s := 0; s < len(widths)/2; s++ {
		to := (*[form.Unrolled]V)(sums[s*lanes+first:])
		var s0, s1, s2, s3, s4, s5, s6, s7 V
		if add {
			s0, s1, s2, s3, s4, s5, s6, s7 = to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7]
		}
		for range widths[2*s] {
			v, i := (*[form.Unrolled]V)(form.Skip[V](vp, k)), (*[form.Unrolled]I)(form.Skip[I](ip, k))
			s0 += v[0] * form.Element(xp, i[0])
			s1 += v[1] * form.Element(xp, i[1])
			s2 += v[2] * form.Element(xp, i[2])
			s3 += v[3] * form.Element(xp, i[3])
			s4 += v[4] * form.Element(xp, i[4])
			s5 += v[5] * form.Element(xp, i[5])
			s6 += v[6] * form.Element(xp, i[6])
			s7 += v[7] * form.Element(xp, i[7])
			k += lanes
		}
		to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7] = s0, s1, s2, s3, s4, s5, s6, s7
		for range widths[2*s+1] {
			v, i := (*[form.Unrolled]V)(form.Skip[V](vp, k)), (*[form.Unrolled]I)(form.Skip[I](ip, k))
			for m := masks[mask] >> first & (1<<form.Unrolled - 1); m != 0; m &= m - 1 {
				lane := bits.TrailingZeros16(m) & (form.Unrolled - 1)
				to[lane] += v[lane] * form.Element(xp, i[lane])
			}
			k += lanes
			mask++
		}
	}
}

// addMasked adds the lanes of a column that are in mask to their sums:
//
//	sums[i] += val[i]*x[idx[i]]  if bit i of mask is set
func addMasked[V sparse.Value, I uint16 | int32](fused bool, val []V, idx []I, mask uint16, x, sums []V) {
	val, idx = val[:len(sums)], idx[:len(sums)]
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros16(mask)
		sums[i] = form.MulAdd(fused, val[i], x[idx[i]], sums[i])
	}
}
