package partition

import (
	"math"
	"slices"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// ByNNZ cuts the entries of a compressed matrix evenly (Algorithms 2 and 4):
// part i holds the entries floor(i*nnz/parts) to floor((i+1)*nnz/parts)-1, so
// that sizes differ by at most one. ptr has majors+1 elements and rises from 0 to
// nnz.
//
// It fails with a *sparse.InputError when parts is not in [1, MaxParts] or ptr is
// not such an array.
func ByNNZ(ptr []int64, parts int) ([]Part, error) {
	return splitPtr(ptr, parts, func(i int) cut {
		s := par.Cut(ptr[len(ptr)-1], parts, i)
		return cut{s, lowerBound(ptr, s)}
	})
}

// ByMajor gives each part an equal block of majors (the paper's baseline): part i
// owns floor(i*majors/parts) to floor((i+1)*majors/parts)-1 with all their
// entries, and nothing is shared. Arguments and errors are those of ByNNZ.
func ByMajor(ptr []int64, parts int) ([]Part, error) {
	return splitPtr(ptr, parts, func(i int) cut {
		own := int(par.Cut(int64(len(ptr)-1), parts, i))
		return cut{ptr[own], own}
	})
}

// ByMergePath cuts majors and entries together (Merrill and Garland, SC 2016):
// merging the ends of the majors with the entries makes a path of majors+nnz
// steps, which is cut into equal pieces. A cut right behind the last entry of a
// major moves past its end, so that no part gets a carry without entries; with
// that the owned majors and entries of a part, added up, differ by at most 3
// between any two parts. Arguments and errors are those of ByNNZ.
func ByMergePath(ptr []int64, parts int) ([]Part, error) {
	return splitPtr(ptr, parts, func(i int) cut {
		m := len(ptr) - 1
		d := par.Cut(ptr[m]+int64(m), parts, i)
		// r majors ended before step d of the path, and d-r entries went by. The end
		// of major j is step ptr[j+1]+j.
		r := sort.Search(m, func(j int) bool { return ptr[j+1]+int64(j) >= d })
		s := d - int64(r)
		if r < m && ptr[r] < s {
			r++ // it began in the earlier part, which owns it
		}
		return cut{s, r}
	})
}

// splitPtr makes parts of the cuts that at gives for 0 < i < parts.
func splitPtr(ptr []int64, parts int, at func(i int) cut) ([]Part, error) {
	if err := checkPtr(ptr); err != nil {
		return nil, err
	}
	m := len(ptr) - 1
	return build(cut{ptr[m], m}, parts, at, func(p *Part) bool { return p.locate(ptr) }, errFalls)
}

// locate finds the majors that hold the first and the last entry of the part. It
// is false where the pointers do not rise.
func (p *Part) locate(ptr []int64) bool {
	p.StartMajor, p.EndMajor = p.OwnFirst, p.OwnFirst-1
	if p.Empty() {
		return true
	}
	own := ptr[p.OwnFirst : p.OwnEnd+1]
	p.StartFlag = own[0] > p.StartIdx
	// Entry k is in the last major r with ptr[r] <= k, which is the one before the
	// first with ptr[r] >= k+1. Only empty majors keep these from the ends of own.
	start, end := searchUp(own, p.StartIdx+1), searchDown(own, p.EndIdx+1)
	p.StartMajor, p.EndMajor = p.OwnFirst+start-1, p.OwnFirst+end-1
	return 0 <= p.StartMajor && p.StartMajor <= p.EndMajor && p.StartFlag == (start == 0)
}

// searchUp is the first i with a[i] >= x in a rising slice, len(a) if none. It
// takes O(log i) steps that stay close to the start.
func searchUp(a []int64, x int64) int {
	lo, hi := 0, 1
	for hi <= len(a) && a[hi-1] < x {
		lo, hi = hi, 2*hi
	}
	i, _ := slices.BinarySearch(a[lo:min(hi, len(a))], x)
	return lo + i
}

// searchDown is searchUp from the other end, in O(log(len(a)-i)) steps.
func searchDown(a []int64, x int64) int {
	hi, step := len(a), 1
	for step <= hi && a[hi-step] >= x {
		hi, step = hi-step, 2*step
	}
	lo := max(hi-step, 0)
	i, _ := slices.BinarySearch(a[lo:hi], x)
	return lo + i
}

var errFalls = sparse.Inputf("pointers", "they fall: row or column pointers must rise from 0 to the number of entries")

// checkPtr looks at the ends of ptr only.
func checkPtr(ptr []int64) error {
	if len(ptr) == 0 {
		return sparse.Inputf("pointers", "none given: a matrix of n rows has n+1 of them")
	}
	m := len(ptr) - 1
	if ptr[0] != 0 || ptr[m] < 0 {
		return sparse.Inputf("pointers", "they run from %d to %d: they must rise from 0 to the number of entries", ptr[0], ptr[m])
	}
	if m > sparse.MaxDim {
		return sparse.Inputf("pointers", "%d rows: more than %d are not supported (indices are 32 bits wide)", m, sparse.MaxDim)
	}
	if ptr[m] > math.MaxInt64-sparse.MaxDim {
		return sparse.Inputf("pointers", "%d entries: more than %d are not supported", ptr[m], int64(math.MaxInt64-sparse.MaxDim))
	}
	return nil
}
