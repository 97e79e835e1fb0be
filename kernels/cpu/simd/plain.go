package simd

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// The inner loops of slices, diagonals and blocks in plain Go. Processors without AVX2 have only
// these. They sum eight lanes at a time, each in a variable of its own: the compiler keeps these in
// registers, and consecutive additions are independent.

// unrolled is the number of lanes that a loop sums at once.
const unrolled = 8

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
		to := (*[unrolled]V)(sums[s*lanes+first:])
		var s0, s1, s2, s3, s4, s5, s6, s7 V
		if add {
			s0, s1, s2, s3, s4, s5, s6, s7 = to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7]
		}
		for range widths[2*s] {
			v, i := (*[unrolled]V)(skip[V](vp, k)), (*[unrolled]I)(skip[I](ip, k))
			s0 += v[0] * element(xp, i[0])
			s1 += v[1] * element(xp, i[1])
			s2 += v[2] * element(xp, i[2])
			s3 += v[3] * element(xp, i[3])
			s4 += v[4] * element(xp, i[4])
			s5 += v[5] * element(xp, i[5])
			s6 += v[6] * element(xp, i[6])
			s7 += v[7] * element(xp, i[7])
			k += lanes
		}
		to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7] = s0, s1, s2, s3, s4, s5, s6, s7
		for range widths[2*s+1] {
			v, i := (*[unrolled]V)(skip[V](vp, k)), (*[unrolled]I)(skip[I](ip, k))
			for m := masks[mask] >> first & (1<<unrolled - 1); m != 0; m &= m - 1 {
				lane := bits.TrailingZeros16(m) & (unrolled - 1)
				to[lane] += v[lane] * element(xp, i[lane])
			}
			k += lanes
			mask++
		}
	}
}

// skip returns the address n elements after p.
func skip[T any](p unsafe.Pointer, n int) unsafe.Pointer {
	var t T
	return unsafe.Add(p, n*int(unsafe.Sizeof(t)))
}

// element returns element i of the array at p.
func element[V sparse.Value, I uint16 | int32](p *V, i I) V {
	return *(*V)(unsafe.Add(unsafe.Pointer(p), int(i)*int(unsafe.Sizeof(*p))))
}

// addMasked adds the lanes of a column that are in mask to their sums:
//
//	sums[i] += val[i]*x[idx[i]]  if bit i of mask is set
func addMasked[V sparse.Value, I uint16 | int32](fused bool, val []V, idx []I, mask uint16, x, sums []V) {
	val, idx = val[:len(sums)], idx[:len(sums)]
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros16(mask)
		sums[i] = mulAdd(fused, val[i], x[idx[i]], sums[i])
	}
}

// addDiagonals adds columns to the sums of their lanes; lane i of column c reads
// x[row+offsets[c]+i]:
//
//	sums[i] += sum over c of val[c*len(sums)+i]*x[row+offsets[c]+i]
func addDiagonals[V sparse.Value](fused bool, val []V, offsets []int64, x []V, row int, sums []V) {
	lanes := len(sums)
	if fused || lanes%unrolled != 0 {
		for c, o := range offsets {
			for i, v := range val[c*lanes : (c+1)*lanes] {
				sums[i] = mulAdd(fused, v, x[row+int(o)+i], sums[i])
			}
		}
		return
	}
	for i := 0; i < lanes; i += unrolled {
		addEightDiagonals(val[i:], offsets, lanes, x, row+i, (*[unrolled]V)(sums[i:]))
	}
}

// addEightDiagonals is addDiagonals for 8 of lanes lanes. Nothing is checked, as in assembly.
func addEightDiagonals[V sparse.Value](val []V, offsets []int64, lanes int, x []V, row int, sums *[unrolled]V) {
	s0, s1, s2, s3, s4, s5, s6, s7 := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
	vp, xp, k := unsafe.Pointer(unsafe.SliceData(val)), unsafe.Pointer(unsafe.SliceData(x)), 0
	for _, o := range offsets {
		v, u := (*[unrolled]V)(skip[V](vp, k)), (*[unrolled]V)(skip[V](xp, row+int(o)))
		s0 += v[0] * u[0]
		s1 += v[1] * u[1]
		s2 += v[2] * u[2]
		s3 += v[3] * u[3]
		s4 += v[4] * u[4]
		s5 += v[5] * u[5]
		s6 += v[6] * u[6]
		s7 += v[7] * u[7]
		k += lanes
	}
	sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] = s0, s1, s2, s3, s4, s5, s6, s7
}

// addMaskedDiagonals is addDiagonals for the lanes in the mask of each column.
func addMaskedDiagonals[V sparse.Value](fused bool, val []V, offsets []int64, masks []uint16, x []V, row int, sums []V) {
	lanes := len(sums)
	for c, o := range offsets {
		val, at := val[c*lanes:(c+1)*lanes], row+int(o)
		if masks[c] == 1<<lanes-1 && !fused {
			u := x[at : at+lanes]
			for i, v := range val {
				sums[i] += v * u[i]
			}
			continue
		}
		for m := masks[c]; m != 0; m &= m - 1 {
			i := bits.TrailingZeros16(m)
			sums[i] = mulAdd(fused, val[i], x[at+i], sums[i])
		}
	}
}

// addBlocks adds a column of 8 blocks, one per lane, of lanes lanes, to the sums of its rows:
//
//	sums[r*lanes+i] += val[r*lanes+i]*x[idx[i]],  i < 8, r < height
func addBlocks[V sparse.Value](val []V, idx *[unrolled]int32, lanes, height int, x, sums []V) {
	x0, x1, x2, x3 := x[idx[0]], x[idx[1]], x[idx[2]], x[idx[3]]
	x4, x5, x6, x7 := x[idx[4]], x[idx[5]], x[idx[6]], x[idx[7]]
	for k := 0; height > 0; height-- {
		v, s := (*[unrolled]V)(val[k:]), (*[unrolled]V)(sums[k:])
		s[0] += v[0] * x0
		s[1] += v[1] * x1
		s[2] += v[2] * x2
		s[3] += v[3] * x3
		s[4] += v[4] * x4
		s[5] += v[5] * x5
		s[6] += v[6] * x6
		s[7] += v[7] * x7
		k += lanes
	}
}
