package partition

import "github.com/msrep-go/msrep/sparse"

// Verify checks that parts are a valid split, by any rule, of the matrix with these
// pointers:
//
//   - every entry is in exactly one part, and the parts are in order;
//   - every major has exactly one owner, which holds its first entry if it has any; the
//     pointer of an empty major lies within the owner's entries or at their end;
//   - StartMajor and EndMajor hold StartIdx and EndIdx;
//   - StartFlag is set if and only if StartMajor began in an earlier part.
//
// Verify reads every pointer once and is meant for tests. Its errors are
// *sparse.InputError.
func Verify(parts []Part, ptr []int64) error {
	if err := checkPtr(ptr); err != nil {
		return err
	}
	idx, own := int64(0), 0
	for i, p := range parts {
		if p.StartIdx != idx || p.EndIdx < idx-1 {
			return sparse.Inputf("parts", "part %d holds the entries [%d, %d]: they must begin at %d", i, p.StartIdx, p.EndIdx, idx)
		}
		if p.OwnFirst != own || p.OwnEnd < own || p.OwnEnd >= len(ptr) {
			return sparse.Inputf("parts", "part %d owns [%d, %d) of %d: they must begin at %d", i, p.OwnFirst, p.OwnEnd, len(ptr)-1, own)
		}
		if err := p.verify(i, ptr); err != nil {
			return err
		}
		idx, own = p.EndIdx+1, p.OwnEnd
	}
	if m := len(ptr) - 1; idx != ptr[m] || own != m {
		return sparse.Inputf("parts", "they hold %d of %d entries and own %d of %d rows: all must be covered", idx, ptr[m], own, m)
	}
	return nil
}

func (p Part) verify(i int, ptr []int64) error {
	end := p.EndIdx + 1
	for r := p.OwnFirst; r < p.OwnEnd; r++ {
		k0, k1 := ptr[r], ptr[r+1]
		if k0 < p.StartIdx || k0 > end || (k0 == end && k1 > k0) {
			return sparse.Inputf("parts", "part %d owns row %d, entries [%d, %d), and holds [%d, %d): it must hold the first one", i, r, k0, k1, p.StartIdx, end)
		}
	}
	if p.Empty() {
		if p.StartFlag || p.StartMajor != p.OwnFirst || p.EndMajor != p.OwnFirst-1 {
			return sparse.Inputf("parts", "part %d has no entries, but its rows are [%d, %d] with flag %v: they must be [%d, %d] without", i, p.StartMajor, p.EndMajor, p.StartFlag, p.OwnFirst, p.OwnFirst-1)
		}
		return nil
	}
	for _, at := range []struct {
		k int64
		r int
	}{{p.StartIdx, p.StartMajor}, {p.EndIdx, p.EndMajor}} {
		if at.r < 0 || at.r >= len(ptr)-1 || ptr[at.r] > at.k || ptr[at.r+1] <= at.k {
			return sparse.Inputf("parts", "part %d: entry %d is not in row %d", i, at.k, at.r)
		}
	}
	if p.StartFlag != (ptr[p.StartMajor] < p.StartIdx) {
		return sparse.Inputf("parts", "part %d has flag %v: row %d begins at entry %d and the part at %d", i, p.StartFlag, p.StartMajor, ptr[p.StartMajor], p.StartIdx)
	}
	return nil
}
