package partition

import (
	"errors"
	"sort"

	"github.com/msrep-go/msrep/sparse"
)

// ErrUnsorted reports COO entries that are sorted neither by row nor by column.
var ErrUnsorted = errors.New("the entries are not sorted")

// newCOOCutter returns a cutter for a part of a COO matrix, by its sorted index.
func newCOOCutter(idx []int32, p Part, rule Rule) (*cutter, error) {
	if err := checkPartCOO(idx, p); err != nil {
		return nil, err
	}
	c := &cutter{whole: p, locate: func(q *Part) bool { return q.locateCOO(idx) }, orderErr: errUnsorted}
	own, owned := idx[p.StartIdx:p.EndIdx+1], int64(p.OwnEnd-p.OwnFirst)
	switch rule {
	case RuleNNZ:
		c.work = p.NNZ()
		c.at = func(d int64) cut {
			if d == 0 {
				return cut{p.StartIdx, p.OwnFirst}
			}
			return cut{p.StartIdx + d, int(own[d-1]) + 1}
		}
	case RuleMajor:
		c.work = owned
		c.at = func(d int64) cut {
			first := p.OwnFirst + int(d)
			k := sort.Search(len(own), func(k int) bool { return int(own[k]) >= first })
			return cut{p.StartIdx + int64(k), first}
		}
	case RuleMergePath:
		c.work = p.NNZ() + owned
		c.at = func(d int64) cut {
			// Entry k is step k+own[k] of the path.
			k := sort.Search(len(own), func(k int) bool { return int64(k)+max(int64(own[k])-int64(p.OwnFirst), 0) >= d })
			r := p.OwnFirst + int(d) - k
			if k > 0 && int(own[k-1]) == r {
				r++ // it began in the earlier part, which owns it
			}
			return cut{p.StartIdx + int64(k), r}
		}
	default:
		return nil, unknownRule(rule)
	}
	return c, nil
}

// checkPartCOO refuses a part that does not lie within idx.
func checkPartCOO(idx []int32, p Part) error {
	if p.StartIdx < 0 || p.EndIdx < p.StartIdx-1 || p.EndIdx >= int64(len(idx)) || p.OwnFirst < 0 || p.OwnFirst > p.OwnEnd {
		return sparse.Inputf("part", "it holds the entries [%d, %d] and owns rows [%d, %d): there are %d entries", p.StartIdx, p.EndIdx, p.OwnFirst, p.OwnEnd, len(idx))
	}
	return nil
}

// locateCOO sets the majors that hold the first and the last entry of the part. It
// returns false if the indices are not in ascending order.
func (p *Part) locateCOO(idx []int32) bool {
	p.StartMajor, p.EndMajor = p.OwnFirst, p.OwnFirst-1
	if p.Empty() {
		return true
	}
	p.StartMajor, p.EndMajor = int(idx[p.StartIdx]), int(idx[p.EndIdx])
	p.StartFlag = p.StartMajor < p.OwnFirst
	return p.OwnFirst <= p.StartMajor+1 && p.StartMajor <= p.EndMajor
}

var errUnsorted = &sparse.InputError{Subject: "matrix", Err: ErrUnsorted, Msg: "COO entries must be sorted by row or by column to be split"}
