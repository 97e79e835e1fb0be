package partition

import (
	"math"
	"slices"
	"sort"

	"github.com/msrep-go/msrep/sparse"
)

// newCutter returns a cutter for a part of a compressed matrix.
func newCutter(ptr []int64, p Part, rule Rule) (*cutter, error) {
	if err := checkPart(ptr, p); err != nil {
		return nil, err
	}
	c := &cutter{whole: p, locate: func(q *Part) bool { return q.locate(ptr) }, orderErr: errOrder}
	own, owned := ptr[p.OwnFirst:p.OwnEnd+1], int64(p.OwnEnd-p.OwnFirst)
	end := p.EndIdx + 1
	before := func(r int) cut { return cut{min(max(own[r], p.StartIdx), end), p.OwnFirst + r} } // the cut before major r
	switch rule {
	case RuleNNZ:
		c.work = p.NNZ()
		c.at = func(d int64) cut {
			s := p.StartIdx + d
			return cut{s, p.OwnFirst + lowerBound(own, s)}
		}
	case RuleWhole:
		c.work = p.NNZ()
		c.at = func(d int64) cut {
			s := p.StartIdx + d
			r := lowerBound(own, s)
			if r > 0 && s-own[r-1] < own[r]-s {
				r--
			}
			return before(r)
		}
	case RuleMajor:
		c.work = owned
		c.at = func(d int64) cut { return before(int(d)) }
	case RuleMergePath:
		c.work = p.NNZ() + owned
		c.at = func(d int64) cut {
			// Before step d of the path, r majors have ended and d-r entries have passed.
			// The end of major j is step own[j+1]+j.
			r := sort.Search(int(owned), func(j int) bool { return min(own[j+1], end)-p.StartIdx+int64(j) >= d })
			s := p.StartIdx + d - int64(r)
			if r < int(owned) && own[r] < s {
				r++ // it began in the earlier part, which owns it
			}
			return cut{s, p.OwnFirst + r}
		}
	default:
		return nil, unknownRule(rule)
	}
	return c, nil
}

// checkPart refuses a part that does not lie within ptr.
func checkPart(ptr []int64, p Part) error {
	if p.OwnFirst < 0 || p.OwnFirst > p.OwnEnd || p.OwnEnd >= len(ptr) {
		return sparse.Inputf("part", "it owns rows [%d, %d): there are %d pointers", p.OwnFirst, p.OwnEnd, len(ptr))
	}
	if p.StartIdx < 0 || p.EndIdx < p.StartIdx-1 || p.EndIdx >= ptr[p.OwnEnd] {
		return sparse.Inputf("part", "it holds the entries [%d, %d]: its rows end before entry %d", p.StartIdx, p.EndIdx, ptr[p.OwnEnd])
	}
	return nil
}

// locate sets the majors that hold the first and the last entry of the part. It returns
// false if the pointers are not in ascending order.
func (p *Part) locate(ptr []int64) bool {
	p.StartMajor, p.EndMajor = p.OwnFirst, p.OwnFirst-1
	if p.Empty() {
		return true
	}
	own := ptr[p.OwnFirst : p.OwnEnd+1]
	p.StartFlag = own[0] > p.StartIdx
	// Entry k is in the last major r with ptr[r] <= k, which precedes the first r with
	// ptr[r] >= k+1. Only empty majors lie between these and the ends of own.
	start, end := searchUp(own, p.StartIdx+1), searchDown(own, p.EndIdx+1)
	p.StartMajor, p.EndMajor = p.OwnFirst+start-1, p.OwnFirst+end-1
	return 0 <= p.StartMajor && p.StartMajor <= p.EndMajor && p.StartFlag == (start == 0)
}

// searchUp returns the first i with a[i] >= x in an ascending slice, or len(a) if there
// is none. It takes O(log i) steps, all near the start.
func searchUp(a []int64, x int64) int {
	lo, hi := 0, 1
	for hi <= len(a) && a[hi-1] < x {
		lo, hi = hi, 2*hi
	}
	i, _ := slices.BinarySearch(a[lo:min(hi, len(a))], x)
	return lo + i
}

// searchDown is searchUp from the other end: it takes O(log(len(a)-i)) steps.
func searchDown(a []int64, x int64) int {
	hi, step := len(a), 1
	for step <= hi && a[hi-step] >= x {
		hi, step = hi-step, 2*step
	}
	lo := max(hi-step, 0)
	i, _ := slices.BinarySearch(a[lo:hi], x)
	return lo + i
}

var errOrder = sparse.Inputf("pointers", "they decrease: row or column pointers must increase from 0 to the number of entries")

// checkPtr checks the length and the two ends of ptr.
func checkPtr(ptr []int64) error {
	if len(ptr) == 0 {
		return sparse.Inputf("pointers", "none given: a matrix of n rows has n+1 of them")
	}
	m := len(ptr) - 1
	if ptr[0] != 0 || ptr[m] < 0 {
		return sparse.Inputf("pointers", "they run from %d to %d: they must increase from 0 to the number of entries", ptr[0], ptr[m])
	}
	if m > sparse.MaxDim {
		return sparse.Inputf("pointers", "%d rows: more than %d are not supported (indices are 32 bits wide)", m, sparse.MaxDim)
	}
	if ptr[m] > math.MaxInt64-sparse.MaxDim {
		return sparse.Inputf("pointers", "%d entries: more than %d are not supported", ptr[m], int64(math.MaxInt64-sparse.MaxDim))
	}
	return nil
}
