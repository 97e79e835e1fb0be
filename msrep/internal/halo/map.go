package halo

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// listedBelow is the density of needed elements below which they are listed: if fewer than 1 of 2 elements of a
	// stretch are needed, the sectors of these, or copies of these alone, are fewer bytes than the stretch.
	listedBelow = 2
	// aligned is the multiple at which the own piece begins: at 128 bytes or more from the first local element.
	aligned = 32
	grain   = 1 << 16 // indices that a goroutine takes at a time
)

// Map numbers the elements of a vector that one device has or needs.
type Map struct {
	Owner  int   // the device
	Cuts   []int // device j owns the elements [Cuts[j], Cuts[j+1])
	N      int64 // number of local elements, including unused ones before the first
	Before int64 // number of local elements before the own piece
	Lo, Hi int   // the part needs the own elements [Lo, Hi) at most

	stretches []stretch // by owner, in ascending order, with that of the device itself
	shift     int       // local minus global number, if there are no lists and no gaps
	shifted   bool
	base      int // the element of the first bit of words
	words     []word
}

// stretch is the elements of one owner that a Map contains.
type stretch struct {
	owner int
	first int     // the first element
	n     int     // number of elements
	idx   []int32 // their numbers; nil if they are first, first+1, ...
	local int64   // local number of the first
}

// word has one bit for each of 64 elements that says whether the Map contains it, and the local number of the first of them.
type word struct {
	in    uint64
	local int64
}

// ErrIndex is wrapped by the error of New for an index outside of the vector.
var ErrIndex = errors.New("an index is out of range")

// New returns the Map of a device whose part has the given indices, which lie in [0, n). The last of cuts is n.
func New(idx []int32, n int, cuts []int, owner int) (*Map, error) {
	lo, hi := indexRange(idx)
	if lo < 0 || hi > n {
		return nil, &sparse.InputError{Subject: "matrix", Err: ErrIndex, Msg: fmt.Sprintf("an index is not in [0, %d): the indices reach from %d to %d", n, lo, hi-1)}
	}
	m := &Map{Owner: owner, Cuts: cuts}
	from, end := cuts[owner], cuts[owner+1]
	if lo < hi {
		from, end = min(from, lo), max(end, hi)
	}
	m.base = from &^ 63
	if err := fits((16 + 8*markers) * int64((end-m.base+63)/64)); err != nil {
		return nil, err
	}
	m.words = make([]word, (end-m.base+63)/64)
	m.mark(idx)
	for j := range cuts[1:] {
		m.addOwner(j, max(cuts[j], lo), min(cuts[j+1], hi))
	}
	m.closeGaps()
	m.number(aligned)
	return m, nil
}

// Range returns the Map of a device whose part needs the elements [lo, hi).
func Range(lo, hi int, cuts []int, owner int) *Map {
	m := &Map{Owner: owner, Cuts: cuts}
	for j := range cuts[1:] {
		first, end := max(cuts[j], lo), min(cuts[j+1], hi)
		if j == owner {
			m.Lo, m.Hi = first, max(first, end)
			first, end = cuts[j], cuts[j+1]
		}
		if first < end || j == owner {
			m.stretches = append(m.stretches, stretch{owner: j, first: first, n: end - first})
		}
	}
	m.number(1)
	return m
}

// indexRange returns the smallest range [lo, hi) that contains all indices.
func indexRange(idx []int32) (lo, hi int) {
	if len(idx) == 0 {
		return 0, 0
	}
	var least, most atomic.Int32
	least.Store(idx[0])
	most.Store(idx[0])
	par.Range(int64(len(idx)), grain, func(a, b int64) {
		if a == b {
			return
		}
		low, high := slices.Min(idx[a:b]), slices.Max(idx[a:b])
		for old := least.Load(); low < old && !least.CompareAndSwap(old, low); old = least.Load() {
		}
		for old := most.Load(); high > old && !most.CompareAndSwap(old, high); old = most.Load() {
		}
	})
	return int(least.Load()), int(most.Load()) + 1
}

// fits returns an error if bytes of host memory are not available.
func fits(bytes int64) error {
	if have, ok := mem.Fits(bytes); !ok {
		return &sparse.InputError{Subject: "matrix", Err: kernels.ErrOutOfMemory,
			Msg: fmt.Sprintf("%d bytes of host memory are needed to number the elements of x for a device, %d are available", bytes, have)}
	}
	return nil
}

// markers is the largest number of goroutines that set bits. Each has bits of its own, because atomic operations on common
// ones take ten times as long.
const markers = 4

// mark sets the bits of the indices.
func (m *Map) mark(idx []int32) {
	var mu sync.Mutex
	nnz := int64(len(idx))
	workers := min(par.Workers(nnz, grain), markers)
	par.Do(workers, func(i int) {
		own, base := make([]uint64, len(m.words)), int32(m.base)
		for _, j := range idx[par.Cut(nnz, workers, i):par.Cut(nnz, workers, i+1)] {
			own[uint32(j-base)>>6] |= 1 << (j & 63)
		}
		mu.Lock()
		defer mu.Unlock()
		for w, in := range own {
			m.words[w].in |= in
		}
	})
}

// addOwner adds the elements in [lo, hi) whose bits are set, all of owner j, and the own piece if j is the device itself.
func (m *Map) addOwner(j, lo, hi int) {
	first, last, n := -1, -1, 0
	m.each(lo, hi, func(k int, in uint64) {
		if in == 0 {
			return
		}
		if first < 0 {
			first = k + bits.TrailingZeros64(in)
		}
		last = k + bits.Len64(in) - 1
		n += bits.OnesCount64(in)
	})
	if j == m.Owner {
		if m.Lo, m.Hi = first, last+1; n == 0 {
			m.Lo, m.Hi = m.Cuts[j], m.Cuts[j]
		}
		m.stretches = append(m.stretches, stretch{owner: j, first: m.Cuts[j], n: m.Cuts[j+1] - m.Cuts[j]})
		return
	}
	if n == 0 {
		return
	}
	s := stretch{owner: j, first: first, n: last + 1 - first}
	if listedBelow*n < s.n {
		s.n, s.idx = n, make([]int32, 0, n)
		m.each(lo, hi, func(k int, in uint64) {
			for ; in != 0; in &= in - 1 {
				s.idx = append(s.idx, int32(k+bits.TrailingZeros64(in)))
			}
		})
	}
	m.stretches = append(m.stretches, s)
}

// each calls f for all words with bits of [lo, hi): in has these bits, and bit 0 stands for element k.
func (m *Map) each(lo, hi int, f func(k int, in uint64)) {
	if lo >= hi {
		return
	}
	for w := (lo - m.base) >> 6; w <= (hi-1-m.base)>>6; w++ {
		k := m.base + w<<6
		in := m.words[w].in
		if k < lo {
			in &= ^uint64(0) << (lo - k)
		}
		if k+64 > hi {
			in &= ^uint64(0) >> (k + 64 - hi)
		}
		f(k, in)
	}
}

// closeGaps joins stretches of neighbours that lie at most aligned elements apart, so that they are copied together.
func (m *Map) closeGaps() {
	for k := range m.stretches[1:] {
		a, b := &m.stretches[k], &m.stretches[k+1]
		if cut := m.Cuts[b.owner]; a.idx == nil && b.idx == nil && cut == m.Cuts[a.owner+1] && b.first-(a.first+a.n) <= aligned {
			a.n = cut - a.first
			b.n, b.first = b.first+b.n-cut, cut
		}
	}
}

// number gives the local numbers. The own piece begins at a multiple of align.
func (m *Map) number(align int64) {
	for _, s := range m.stretches {
		if s.owner < m.Owner {
			m.Before += int64(s.n)
		}
	}
	all := int64(0)
	for _, s := range m.stretches {
		all += int64(s.n)
	}
	if pad := (align - m.Before%align) % align; all+pad <= math.MaxInt32 {
		m.N = pad
	}
	m.Before += m.N
	m.shifted = true
	for k := range m.stretches {
		s := &m.stretches[k]
		s.local = m.N
		m.N += int64(s.n)
		if shift := int(s.local) - s.first; k == 0 {
			m.shift = shift
		} else if shift != m.shift && s.n > 0 {
			m.shifted = false
		}
		m.shifted = m.shifted && s.idx == nil
	}
	if m.shifted {
		m.words = nil
	}
	if m.words == nil {
		return
	}
	for _, s := range m.stretches {
		if s.idx == nil {
			m.setAll(s.first, s.first+s.n)
		}
	}
	local := m.stretches[0].local
	for w := range m.words {
		m.words[w].local = local
		local += int64(bits.OnesCount64(m.words[w].in))
	}
}

// setAll sets the bits of [lo, hi).
func (m *Map) setAll(lo, hi int) {
	for k := lo; k < hi; {
		end := min(hi, (k|63)+1)
		m.words[(k-m.base)>>6].in |= (^uint64(0) >> (64 - (end - k))) << (k & 63)
		k = end
	}
}

// Local returns the local number of element j, which the Map contains.
func (m *Map) Local(j int) int64 {
	if m.shifted {
		return int64(j + m.shift)
	}
	if m.words == nil { // of Range
		for _, s := range m.stretches {
			if s.first <= j && j < s.first+s.n {
				return s.local + int64(j-s.first)
			}
		}
	}
	w := m.words[(j-m.base)>>6]
	return w.local + int64(bits.OnesCount64(w.in&(1<<(j&63)-1)))
}

// Identity reports whether local numbers are those of the whole vector.
func (m *Map) Identity() bool { return m.shifted && m.shift == 0 }

// Whole reports whether the Map contains all elements with their own numbers.
func (m *Map) Whole() bool { return m.Identity() && m.N == int64(m.Cuts[len(m.Cuts)-1]) }

// Renumber returns the local numbers of indices that New has seen: idx itself if they are the same numbers.
func (m *Map) Renumber(idx []int32) ([]int32, error) {
	if m.Identity() || len(idx) == 0 {
		return idx, nil
	}
	if err := fits(4 * int64(len(idx))); err != nil {
		return nil, err
	}
	out := make([]int32, len(idx))
	par.Range(int64(len(idx)), grain, func(a, b int64) {
		if m.shifted {
			for k, j := range idx[a:b] {
				out[a+int64(k)] = j + int32(m.shift)
			}
			return
		}
		words, base, to := m.words, int32(m.base), out[a:b]
		for k, j := range idx[a:b] {
			w := &words[uint32(j-base)>>6]
			to[k] = int32(w.local) + int32(bits.OnesCount64(w.in&(1<<(j&63)-1)))
		}
	})
	return out, nil
}
