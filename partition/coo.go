package partition

import (
	"errors"
	"slices"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// ErrUnsorted says that COO entries are sorted neither by row nor by column.
var ErrUnsorted = errors.New("the entries are not sorted")

// SortedCOO cuts the entries of a COO matrix evenly (Algorithm 6). idx is the
// index by which they are sorted, in [0, majors); there is no row pointer. Cuts
// and owners are those that ByNNZ gives for the same matrix in compressed form,
// in O(1) per part: a major whose first entry is StartIdx or later follows
// idx[StartIdx-1].
//
// It fails with a *sparse.InputError when parts is not in [1, MaxParts], when
// majors is not in [0, sparse.MaxDim], when idx does not begin and end in
// [0, majors), or when it falls between the borders; the latter wraps
// ErrUnsorted. Other indices are not looked at: sparse.COO.Order and Validate do
// that.
func SortedCOO(idx []int32, majors, parts int) ([]Part, error) {
	return splitCOO(idx, majors, parts, func(i int) cut {
		s := par.Cut(int64(len(idx)), parts, i)
		if s == 0 {
			return cut{}
		}
		return cut{s, int(idx[s-1]) + 1}
	})
}

// COOByMajor is ByMajor for the sorted index of a COO matrix, by binary search.
// Arguments and errors are those of SortedCOO.
func COOByMajor(idx []int32, majors, parts int) ([]Part, error) {
	return splitCOO(idx, majors, parts, func(i int) cut {
		own := par.Cut(int64(majors), parts, i)
		s, _ := slices.BinarySearch(idx, int32(own))
		return cut{int64(s), int(own)}
	})
}

// COOByMergePath is ByMergePath for the sorted index of a COO matrix. Arguments
// and errors are those of SortedCOO.
func COOByMergePath(idx []int32, majors, parts int) ([]Part, error) {
	return splitCOO(idx, majors, parts, func(i int) cut {
		d := par.Cut(int64(len(idx))+int64(majors), parts, i)
		// Entry k is step k+idx[k] of the path.
		s := sort.Search(len(idx), func(k int) bool { return int64(k)+int64(idx[k]) >= d })
		own := int(d - int64(s))
		if s > 0 && int(idx[s-1]) == own {
			own++ // it began in the earlier part, which owns it
		}
		return cut{int64(s), own}
	})
}

// splitCOO makes parts of the cuts that at gives for 0 < i < parts.
func splitCOO(idx []int32, majors, parts int, at func(i int) cut) ([]Part, error) {
	if majors < 0 || majors > sparse.MaxDim {
		return nil, sparse.Inputf("matrix", "%d rows or columns: there must be 0 to %d", majors, sparse.MaxDim)
	}
	if n := len(idx); n > 0 && (idx[0] < 0 || int(idx[n-1]) >= majors) {
		return nil, sparse.Inputf("matrix", "indices run from %d to %d: they must be in [0, %d)", idx[0], idx[n-1], majors)
	}
	return build(cut{int64(len(idx)), majors}, parts, at, func(p *Part) bool { return p.locateCOO(idx) }, errUnsorted)
}

// locateCOO finds the majors that hold the first and the last entry of the part.
// It is false where the indices do not rise.
func (p *Part) locateCOO(idx []int32) bool {
	p.StartMajor, p.EndMajor = p.OwnFirst, p.OwnFirst-1
	if p.Empty() {
		return true
	}
	p.StartMajor, p.EndMajor = int(idx[p.StartIdx]), int(idx[p.EndIdx])
	p.StartFlag = p.StartMajor < p.OwnFirst
	return p.OwnFirst <= p.StartMajor+1 && p.StartMajor <= p.EndMajor
}

var errUnsorted = &sparse.InputError{File: "matrix", Err: ErrUnsorted, Msg: "COO entries must be sorted by row or by column to be split"}
