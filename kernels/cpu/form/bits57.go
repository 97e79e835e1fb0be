package form

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	sample57 = 1 << 12 // values that are looked at
	// apart57 is the share of eights of values that may stand apart, for 72 bytes each: the
	// others save 7.
	apart57 = 0.04
	// A slice of more values is not packed in 57 bits: all of it lies in memory of its own
	// while it is.
	slice57 = 1 << 16
)

// set57 is what a ValueSet knows of values in 57 bits.
type set57[V sparse.Value] struct {
	low   int
	share float64 // of the eights that stand apart, as a sample shows
	// The slice that is being filled, and the place of its first value.
	slice []V
	first int
}

// Find57 gives the way to store float64 values in 57 bits each (simd.Values57). ok is
// false where too many would stand apart, as a sample shows.
func Find57[V sparse.Value](val []V) (s ValueSet[V], ok bool) {
	all, double := any(val).([]float64)
	if !double || len(all) == 0 {
		return s, false
	}
	looked := make([]float64, 0, sample57)
	step := len(all)/sample57 + 1
	for k, at := 0, 0; k < len(all); k += step {
		at = int((uint(at) + 0x9E3779B1) % uint(step)) // not at equal distances: values may have a period
		looked = append(looked, all[min(k+at, len(all)-1)])
	}
	low, out := simd.Low57(looked)
	s.storage = simd.Bits57
	s.set57 = set57[V]{low: low, share: 1 - math.Pow(1-float64(out)/float64(len(looked)), 8)}
	return s, s.set57.share <= apart57
}

// Bytes is how many bytes a value takes.
func (s ValueSet[V]) Bytes() float64 {
	return float64(s.storage.Bits(int(mem.Size[V]())))/8 + 9*s.set57.share
}

// within is the same values, as they are where they would be in 57 bits that the level
// does not know, or in slices of too many values.
func (s ValueSet[V]) within(l simd.Level, slice int) ValueSet[V] {
	if l != simd.Generic && !simd.Fast57(l) || slice > slice57 {
		return s.not57()
	}
	return s
}

// not57 is the same values, as they are where they would be in 57 bits: for forms that
// are not filled slice by slice.
func (s ValueSet[V]) not57() ValueSet[V] {
	if s.storage == simd.Bits57 {
		return ValueSet[V]{}
	}
	return s
}

// make57 makes room for n values.
func (s *ValueSet[V]) make57(m *Memory, n int64) (*simd.Values57, error) {
	bytes, err := Make[byte](m, n/8*57+simd.Slack57)
	if err != nil {
		return nil, err
	}
	room := min(int64((1.5*s.set57.share+0.01)*float64(n/8))+16, n/8) // more than the sample shows
	apart, err := Make[int64](m, room+1)
	if err != nil {
		return nil, err
	}
	plain, err := Make[float64](m, 8*room)
	return simd.New57(s.set57.low, bytes, apart, plain), err
}

// open begins a slice of n values, the first of which has this place. They can be put in
// any order until it is closed. This and close do nothing where there is no need.
func (s *ValueSet[V]) open(first, n int) {
	if s.storage != simd.Bits57 {
		return
	}
	q := &s.set57
	q.slice, q.first = slices.Grow(q.slice[:0], n)[:n], first
	none := V(simd.In57(q.low)) // where no value is put, none stands apart
	for i := range q.slice {
		q.slice[i] = none
	}
}

// close packs the slice that is open.
func (s *ValueSet[V]) close(l simd.Level, out *simd.Values[V]) error {
	if s.storage != simd.Bits57 {
		return nil
	}
	if !out.Bits57.Append(l, any(s.set57.slice).([]float64)) {
		return sparse.Inputf("matrix", "more values than a sample shows can't be stored in 57 bits")
	}
	return nil
}

// bytes57 is the memory of values in 57 bits.
func bytes57(s *simd.Values57) int64 {
	if s == nil {
		return 0
	}
	return int64(len(s.Bytes)) + 8*int64(cap(s.Apart)+cap(s.Plain))
}
