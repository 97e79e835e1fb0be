package cpms

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// convertGrain is how many values are worth a goroutine.
const convertGrain = 1 << 15

// FromFloats cuts the values of v into segments in the memory of v, which the
// array owns from then on. All bits stay: Floats gives v back as it was. Separated
// segments need a second memory of the same size while it works, interleaved ones
// a block for each goroutine.
func FromFloats(v []float64, l Layout) (*Array, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if l.Bank == Separated { // a copy of all values meanwhile
		if err := fits(int64(len(v)), 8); err != nil {
			return nil, err
		}
	}
	words, _ := mem.Slice[uint64](mem.Bytes(v), int64(len(v)))
	a := newArray(words, l)
	a.blocks(a.cut)
	return a, nil
}

// FromSegments sees memory in which the values lie in segments already, as an array:
// what a device wrote, for example. The array owns v from then on.
func FromSegments(v []float64, l Layout) (*Array, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	words, _ := mem.Slice[uint64](mem.Bytes(v), int64(len(v)))
	return newArray(words, l), nil
}

// Floats joins the segments in place, all of them, and gives the memory back as
// plain values. The array is empty from then on.
func (a *Array) Floats() []float64 {
	a.blocks(a.join)
	v, _ := mem.Slice[float64](mem.Bytes(a.mem), int64(a.n))
	*a = *newArray(nil, a.layout)
	return v
}

// blocks calls f for all values on several goroutines: for the values lo to hi of a
// block, of which all words are given as a copy.
func (a *Array) blocks(f func(first int, copied []uint64, lo, hi int64)) {
	if a.layout.Bank == Separated {
		copied := make([]uint64, a.n)
		par.Range(int64(a.n), convertGrain, func(lo, hi int64) { copy(copied[lo:hi], a.mem[lo:hi]) })
		par.Range(int64(a.n), convertGrain, func(lo, hi int64) { f(0, copied, lo, hi) })
		return
	}
	count := (int64(a.n) + int64(a.per) - 1) / int64(a.per)
	par.Range(count, int64(max(convertGrain/a.per, 1)), func(lo, hi int64) {
		scratch := make([]uint64, min(a.per, a.n))
		for b := lo; b < hi; b++ {
			first := int(b) * a.per
			c := scratch[:min(a.per, a.n-first)]
			copy(c, a.mem[first:])
			f(first, c, 0, int64(len(c)))
		}
	})
}

// cut writes the segments of the values words[lo:hi] to their block.
func (a *Array) cut(first int, words []uint64, lo, hi int64) {
	n := len(words)
	words = words[lo:hi]
	if a.s32 != nil {
		s := a.s32[2*first:][:2*n]
		s0, s1 := s[lo:hi], s[n:][lo:hi]
		for i, u := range words {
			s0[i], s1[i] = uint32(u>>32), uint32(u)
		}
		return
	}
	s := a.s16[4*first:][:4*n]
	s0, s1, s2, s3 := s[lo:hi], s[n:][lo:hi], s[2*n:][lo:hi], s[3*n:][lo:hi]
	for i, u := range words {
		s0[i], s1[i], s2[i], s3[i] = uint16(u>>48), uint16(u>>32), uint16(u>>16), uint16(u)
	}
}

// join writes the values lo to hi of a block whose segments are the memory of words.
func (a *Array) join(first int, words []uint64, lo, hi int64) {
	n := len(words)
	out := a.mem[first:][lo:hi]
	if a.s32 != nil {
		s, _ := mem.Slice[uint32](mem.Bytes(words), 2*int64(n))
		s0, s1 := s[lo:hi], s[n:][lo:hi]
		for i := range out {
			out[i] = uint64(s0[i])<<32 | uint64(s1[i])
		}
		return
	}
	s, _ := mem.Slice[uint16](mem.Bytes(words), 4*int64(n))
	s0, s1, s2, s3 := s[lo:hi], s[n:][lo:hi], s[2*n:][lo:hi], s[3*n:][lo:hi]
	for i := range out {
		out[i] = uint64(s0[i])<<48 | uint64(s1[i])<<32 | uint64(s2[i])<<16 | uint64(s3[i])
	}
}
