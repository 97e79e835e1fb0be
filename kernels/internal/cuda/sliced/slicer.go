package sliced

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// The kinds of storage for the columns of a slice.
const (
	runs = iota
	near
	far
)

// shape describes how a slice is stored.
type shape struct {
	kind, steps int32
	base        int32 // the least column of a near slice
}

// columnBytes is the size of the columns of a step.
var columnBytes = [...]int64{runs: 8, near: 2 * Height, far: 4 * Height}

// bytes returns the memory of the slice, a multiple of a sector.
func (s shape) bytes(value int64) int64 {
	return (int64(s.steps)*(Height*value+columnBytes[s.kind]) + sector - 1) / sector * sector
}

// slicer processes one slice after the other and reuses its scratch memory.
type slicer[V sparse.Value] struct {
	plan   *Plan[V]
	row    [Height]int32 // rows of the lanes, -1 for none
	first  []int32       // columns of lane 0 in the steps of runs
	merged []int32       // buffer for the next first
}

// open starts slice w.
func (s *slicer[V]) open(p *Plan[V], perm []int32, w int64) {
	s.plan = p
	n := int64(len(p.rows.Ptr) - 1)
	for l := range s.row {
		i := w*Height + int64(l)
		switch {
		case i >= n:
			s.row[l] = -1
		case perm != nil:
			s.row[l] = perm[i]
		default:
			s.row[l] = int32(i)
		}
	}
}

// entries returns the columns and values of a lane.
func (s *slicer[V]) entries(lane int) (idx []int32, val []V) {
	if s.row[lane] < 0 {
		return nil, nil
	}
	lo, hi := s.plan.start(s.row[lane]), s.plan.end(s.row[lane])
	return s.plan.rows.Idx[lo:hi], s.plan.rows.Val[lo:hi]
}

// shape returns the shape with the fewest bytes.
func (s *slicer[V]) shape() shape {
	longest, lo, hi := 0, int32(0), int32(-1)
	for l := range Height {
		c, _ := s.entries(l)
		longest = max(longest, len(c))
		for _, j := range c {
			if hi < 0 {
				lo, hi = j, j
			}
			lo, hi = min(lo, j), max(hi, j)
		}
	}
	best := shape{kind: far, steps: int32(longest)}
	if hi-lo < absent {
		best.kind, best.base = near, lo
	}
	value := s.plan.size()
	limit := int(best.bytes(value) / (Height*value + columnBytes[runs]))
	if s.findRuns(limit) {
		best = shape{kind: runs, steps: int32(len(s.first))}
	}
	return best
}

// findRuns finds the steps of runs, sorted: the columns of all lanes minus the lane
// number. It returns false if there are more than limit, or if the columns of a row do
// not increase.
func (s *slicer[V]) findRuns(limit int) bool {
	limit = min(limit, maxSteps)
	s.first = s.first[:0]
	for l := range Height {
		if own, _ := s.entries(l); !s.addRuns(own, int32(l), limit) {
			return false
		}
	}
	return true
}

// addRuns merges the columns of a lane into the steps found before.
func (s *slicer[V]) addRuns(own []int32, lane int32, limit int) bool {
	first, merged := s.first, s.merged[:0]
	for k, c := range own {
		if k > 0 && c <= own[k-1] {
			return false
		}
		c -= lane
		for len(first) > 0 && first[0] < c {
			merged = append(merged, first[0])
			first = first[1:]
		}
		if len(first) > 0 && first[0] == c {
			first = first[1:]
		}
		if len(merged) >= limit {
			return false
		}
		merged = append(merged, c)
	}
	merged = append(merged, first...)
	s.first, s.merged = merged, s.first
	return len(merged) <= limit
}

// sorted returns the rows by decreasing length within windows; rows of equal length
// keep their order.
func (p *Plan[V]) sorted() []int32 {
	perm := make([]int32, len(p.rows.Ptr)-1)
	par.Range(int64(len(perm)+window-1)/window, 8, func(lo, hi int64) {
		for w := lo; w < hi; w++ {
			from := w * window
			own := perm[from:min(from+window, int64(len(perm)))]
			for i := range own {
				own[i] = int32(from) + int32(i)
			}
			slices.SortStableFunc(own, func(a, b int32) int { return cmp.Compare(p.end(b)-p.start(b), p.end(a)-p.start(a)) })
		}
	})
	return perm
}
