package diagonals

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// addDiagonals adds columns to the sums of their lanes; lane i of column c reads
// x[row+offsets[c]+i]:
//
//	sums[i] += sum over c of val[c*len(sums)+i]*x[row+offsets[c]+i]
func addDiagonals[V sparse.Value](fused bool, val []V, offsets []int64, x []V, row int, sums []V) {
	lanes := len(sums)
	if fused || lanes%form.Unrolled != 0 {
		for c, o := range offsets {
			for i, v := range val[c*lanes : (c+1)*lanes] {
				sums[i] = form.MulAdd(fused, v, x[row+int(o)+i], sums[i])
			}
		}
		return
	}
	for i := 0; i < lanes; i += form.Unrolled {
		addEightDiagonals(val[i:], offsets, lanes, x, row+i, (*[form.Unrolled]V)(sums[i:]))
	}
}

// addEightDiagonals is addDiagonals for 8 of lanes lanes. Nothing is checked, as in assembly.
func addEightDiagonals[V sparse.Value](val []V, offsets []int64, lanes int, x []V, row int, sums *[form.Unrolled]V) {
	s0, s1, s2, s3, s4, s5, s6, s7 := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
	vp, xp, k := unsafe.Pointer(unsafe.SliceData(val)), unsafe.Pointer(unsafe.SliceData(x)), 0
	for _, o := range offsets {
		v, u := (*[form.Unrolled]V)(form.Skip[V](vp, k)), (*[form.Unrolled]V)(form.Skip[V](xp, row+int(o)))
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
			sums[i] = form.MulAdd(fused, val[i], x[at+i], sums[i])
		}
	}
}
