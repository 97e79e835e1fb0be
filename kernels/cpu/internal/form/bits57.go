package form

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	sample57 = 1 << 12 // number of values in a sample
	// mostUncompressed57 is the largest fraction of groups of eight values that are stored
	// uncompressed, which takes 72 bytes each. A compressed group saves 7 bytes.
	mostUncompressed57 = 0.04
	// slice57 is the largest number of values of a slice that is packed in 57 bits: packing needs
	// an uncompressed copy of the slice.
	slice57 = 1 << 16
)

// set57 is the part of a ValueSet for storage in 57 bits.
type set57[V sparse.Value] struct {
	low          int
	uncompressed float64 // fraction of groups of eight values that are stored uncompressed, from a sample
	// slice is the slice that is being filled; first is the slot of its first value.
	slice []V
	first int
}

// Find57 returns the ValueSet that stores float64 values in 57 bits each (simd.Values57). ok is
// false if a sample shows that too many groups of eight would be stored uncompressed.
func Find57[V sparse.Value](val []V) (s ValueSet[V], ok bool) {
	all, double := any(val).([]float64)
	if !double || len(all) == 0 {
		return s, false
	}
	looked := make([]float64, 0, sample57)
	step := len(all)/sample57 + 1
	for k, at := 0, 0; k < len(all); k += step {
		at = int((uint(at) + 0x9E3779B1) % uint(step)) // varying distances, because values may be periodic
		looked = append(looked, all[min(k+at, len(all)-1)])
	}
	low, out := Low57(looked)
	s.StoredAs = Bits57
	s.set57 = set57[V]{low: low, uncompressed: 1 - math.Pow(1-float64(out)/float64(len(looked)), 8)}
	return s, s.set57.uncompressed <= mostUncompressed57
}

// Bytes returns the average number of bytes of a value.
func (s ValueSet[V]) Bytes() float64 {
	return float64(s.StoredAs.Bits(int(mem.Size[V]())))/8 + 9*s.set57.uncompressed
}

// Within returns s, or full storage if s uses 57 bits and the level has no kernel for them or a
// slice has more than slice57 values.
func (s ValueSet[V]) Within(l simd.Level, slice int) ValueSet[V] {
	if l != simd.Generic && !Fast57(l) || slice > slice57 {
		return s.Not57()
	}
	return s
}

// Not57 returns s, or full storage if s uses 57 bits. It is for forms that are not filled slice by
// slice.
func (s ValueSet[V]) Not57() ValueSet[V] {
	if s.StoredAs == Bits57 {
		return ValueSet[V]{}
	}
	return s
}

// make57 allocates room for n values.
func (s *ValueSet[V]) make57(m *Memory, n int64) (*Values57, error) {
	bytes, err := Make[byte](m, n/8*57+Slack57)
	if err != nil {
		return nil, err
	}
	room := min(int64((1.5*s.set57.uncompressed+0.01)*float64(n/8))+16, n/8) // more than the sample shows
	apart, err := Make[int64](m, room+1)
	if err != nil {
		return nil, err
	}
	plain, err := Make[float64](m, 8*room)
	return New57(s.set57.low, bytes, apart, plain), err
}

// Open begins a slice of n values; first is the slot of the first one. The values can be put in any
// order until close. open and close do nothing for other storages.
func (s *ValueSet[V]) Open(first, n int) {
	if s.StoredAs != Bits57 {
		return
	}
	q := &s.set57
	q.slice, q.first = slices.Grow(q.slice[:0], n)[:n], first
	none := V(In57(q.low)) // fills slots without a value; it is stored in 57 bits
	for i := range q.slice {
		q.slice[i] = none
	}
}

// Close packs the open slice.
func (s *ValueSet[V]) Close(l simd.Level, out *Values[V]) error {
	if s.StoredAs != Bits57 {
		return nil
	}
	if !out.Bits57.Append(l, any(s.set57.slice).([]float64)) {
		return sparse.Inputf("matrix", "more values do not fit in 57 bits than their sample predicts")
	}
	return nil
}

// bytes57 returns the memory of values in 57 bits.
func bytes57(s *Values57) int64 {
	if s == nil {
		return 0
	}
	return int64(len(s.Bytes)) + 8*int64(cap(s.Apart)+cap(s.Plain))
}
