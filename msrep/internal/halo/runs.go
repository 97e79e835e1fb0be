package halo

import (
	"slices"
	"sort"
)

// Run is elements that a device gets from one piece of a vector.
type Run struct {
	From  int     // the device of the piece
	At    int     // number in the piece of the first element
	N     int     // number of elements
	Idx   []int32 // their numbers in the piece; nil if they are At, At+1, ...
	Local int64   // local number of the first element; the others follow
}

// Runs returns where a device gets its elements of a vector with the given pieces: device j has the elements [cuts[j],
// cuts[j+1]). Its own piece counts only as far as the part needs it. The runs begin with the device after the owner of m and
// end with the owner, so that devices that copy their runs at the same time read from different devices.
func (m *Map) Runs(cuts []int) []Run {
	var out []Run
	for _, s := range m.stretches {
		if s.owner == m.Owner {
			s.local += int64(m.Lo - s.first)
			s.first, s.n = m.Lo, m.Hi-m.Lo
		}
		for j := range cuts[1:] {
			if r := s.within(cuts[j], cuts[j+1]); r.N > 0 {
				r.From = j
				out = append(out, r)
			}
		}
	}
	devices := len(cuts) - 1
	slices.SortStableFunc(out, func(a, b Run) int {
		return (a.From-m.Owner-1+devices)%devices - (b.From-m.Owner-1+devices)%devices
	})
	return out
}

// within returns the elements of s in [lo, hi), which is a piece.
func (s stretch) within(lo, hi int) Run {
	if s.idx == nil {
		first, end := max(s.first, lo), min(s.first+s.n, hi)
		return Run{At: first - lo, N: end - first, Local: s.local + int64(first-s.first)}
	}
	a := sort.Search(s.n, func(k int) bool { return int(s.idx[k]) >= lo })
	b := sort.Search(s.n, func(k int) bool { return int(s.idx[k]) >= hi })
	r := Run{N: b - a, Local: s.local + int64(a)}
	for _, j := range s.idx[a:b] {
		r.Idx = append(r.Idx, j-int32(lo))
	}
	return r
}

// FromHost returns where a device gets its elements of a vector in host memory, in ascending order. Neighbouring runs are
// joined.
func (m *Map) FromHost() []Run {
	runs := m.Runs([]int{0, m.Cuts[len(m.Cuts)-1]})
	slices.SortFunc(runs, func(a, b Run) int { return int(a.Local - b.Local) })
	var out []Run
	for _, r := range runs {
		if k := len(out) - 1; k >= 0 && r.Idx == nil && out[k].Idx == nil && out[k].At+out[k].N == r.At && out[k].Local+int64(out[k].N) == r.Local {
			out[k].N += r.N
			continue
		}
		out = append(out, r)
	}
	return out
}
