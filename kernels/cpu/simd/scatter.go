package simd

import (
	"errors"

	"github.com/msrep-go/msrep/sparse"
)

// Scatter adds rows of a CSR matrix, times alpha and an element of x each, to y:
//
//	y[idx[k]-first] += alpha*x[r] * val[k],  ptr[r]-ptr[0] <= k < ptr[r+1]-ptr[0]
//
// It stops at the first entry whose place is not in y and gives the number of
// those done, len(idx) if all. ptr has len(x)+1 elements and ends at the last
// entry; one that falls or leaves idx is a panic. far says that places follow each
// other at random in more memory than the caches hold.
func Scatter[V sparse.Value](l Level, alpha V, ptr []int64, idx []int32, val, x, y []V, first int, far bool) (done int) {
	ptr, val = ptr[:len(x)+1], val[:len(idx)]
	if ptr[len(x)]-ptr[0] != int64(len(idx)) {
		panic(errPointers)
	}
	if l >= AVX2 {
		done = scatterAVX2(alpha, ptr, idx, val, x, y, first, far)
	} else {
		done = scatterGeneric(alpha, ptr, idx, val, x, y, first)
	}
	if done < len(idx) {
		if at := int(idx[done]) - first; uint(at) < uint(len(y)) {
			panic(errPointers)
		}
	}
	return done
}

var errPointers = errors.New("the pointers do not rise to the number of entries")

func scatterGeneric[V sparse.Value](alpha V, ptr []int64, idx []int32, val, x, y []V, first int) (done int) {
	base := ptr[0]
	for r, xr := range x {
		f := alpha * xr
		end := int(ptr[r+1] - base)
		for j, i := range idx[done:end] {
			at := int(i) - first
			if uint(at) >= uint(len(y)) {
				return done + j
			}
			y[at] += val[done+j] * f
		}
		done = end
	}
	return done
}
