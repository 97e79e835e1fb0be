package cpms

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// convertGrain is the least number of values that pays for a goroutine.
const convertGrain = 1 << 15

// FromFloats splits the values of v into segments within the memory of v, which then
// belongs to the array. It keeps all bits: Floats restores v. During the conversion,
// separated segments take as much memory again, and interleaved segments a buffer for each
// goroutine. An invalid layout gives a *sparse.InputError.
func FromFloats(v []float64, l Layout) (*Array, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if l.Bank == Separated { // needs a copy of all values during the conversion
		if err := checkMemory(int64(len(v)), 8); err != nil {
			return nil, err
		}
	}
	words, _ := mem.Slice[uint64](mem.Bytes(v), int64(len(v)))
	a := newArray(words, l)
	a.eachChunk(a.split)
	return a, nil
}

// FromSegments returns an array over memory in which the values are already in segments,
// such as the output of a device. v then belongs to the array.
func FromSegments(v []float64, l Layout) (*Array, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	words, _ := mem.Slice[uint64](mem.Bytes(v), int64(len(v)))
	return newArray(words, l), nil
}

// Floats joins all segments in place and returns the memory as plain values. The array is
// empty afterwards.
func (a *Array) Floats() []float64 {
	a.eachChunk(a.join)
	v, _ := mem.Slice[float64](mem.Bytes(a.mem), int64(a.n))
	*a = *newArray(nil, a.layout)
	return v
}

// eachChunk calls f on several goroutines until all values are covered. Each call gets
// the first value of a chunk, a copy of all words of that chunk, and the range of values
// [lo, hi) within the chunk.
func (a *Array) eachChunk(f func(first int, copied []uint64, lo, hi int64)) {
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

// split writes the segments of the values words[lo:hi] to their chunk.
func (a *Array) split(first int, words []uint64, lo, hi int64) {
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

// join writes the values lo to hi-1 of a chunk. words are the segments of the chunk.
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
