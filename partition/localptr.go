package partition

import (
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// LocalPtr stores in dst the pointers of a part, counted from its first entry:
//
//	dst[j] = min(max(ptr[First+j], s), e) - s,  j = 0 ... Majors
//
// with s = StartIdx and e = EndIdx+1, so dst runs from 0 to NNZ. Devices that hold a copy
// of their part need them; a device that reads the whole matrix can use ptr with an
// offset. dst must have Majors+1 elements, of 32 or 64 bits; 32 bits hold at most 2^31-1
// entries. Several goroutines do the work.
//
// It fails with a *sparse.InputError if dst has another length or is too narrow, or if
// ptr has too few pointers for the part.
func LocalPtr[I int32 | int64](dst []I, ptr []int64, p Part) error {
	if err := checkCovered(ptr, p); err != nil {
		return err
	}
	first, n, nnz := p.First(), p.Majors(), p.NNZ()
	if len(dst) != n+1 {
		return sparse.Inputf("local pointers", "room for %d: a part of %d rows has %d", len(dst), n, n+1)
	}
	if int64(I(nnz)) != nnz {
		return sparse.Inputf("local pointers", "%d entries in a part do not fit into 32 bits: use 64-bit pointers or more parts", nnz)
	}
	// Only the first and the last row can reach beyond the part.
	dst[0], dst[n] = 0, I(nnz)
	if n < 2 {
		return nil
	}
	inner, from := dst[1:n], ptr[first+1:first+n]
	par.Range(int64(n-1), 1<<15, func(lo, hi int64) {
		subtract(inner[lo:hi], from[lo:hi], p.StartIdx)
	})
	return nil
}

func checkCovered(ptr []int64, p Part) error {
	if p.First() < 0 || p.Majors() < 0 || p.NNZ() < 0 || p.End() >= len(ptr) {
		return sparse.Inputf("part", "it covers rows [%d, %d) with %d entries: there are %d pointers", p.First(), p.End(), p.NNZ(), len(ptr))
	}
	return nil
}

// IsLocal reports whether ptr[First ... End] are already the local pointers of the part,
// the result of LocalPtr: whether the part begins with the first entry of the matrix and
// ends with the last entry of a major.
func IsLocal(ptr []int64, p Part) bool {
	return checkCovered(ptr, p) == nil && p.StartIdx == 0 && ptr[p.First()] == 0 && ptr[p.End()] == p.NNZ()
}

// OwnPtr returns the pointers that LocalPtr computes: a slice of ptr if IsLocal is true,
// else new memory. Errors are those of LocalPtr.
func OwnPtr(ptr []int64, p Part) ([]int64, error) {
	if err := checkCovered(ptr, p); err != nil {
		return nil, err
	}
	if IsLocal(ptr, p) {
		return ptr[p.First() : p.End()+1 : p.End()+1], nil
	}
	local := make([]int64, p.Majors()+1)
	return local, LocalPtr(local, ptr, p)
}

// subtract computes dst[i] = src[i] - s for slices of equal length.
func subtract[I int32 | int64](dst []I, src []int64, s int64) {
	for len(src) >= 4 && len(dst) >= 4 {
		a, b := src[:4:4], dst[:4:4]
		b[0], b[1], b[2], b[3] = I(a[0]-s), I(a[1]-s), I(a[2]-s), I(a[3]-s)
		src, dst = src[4:], dst[4:]
	}
	for i, k := range src {
		dst[i] = I(k - s)
	}
}
