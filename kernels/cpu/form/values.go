package form

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// ValueSet says how values can be stored in fewer bytes without losing a bit. The
// zero value stores them as they are.
type ValueSet[V sparse.Value] struct {
	storage simd.Storage
	values  []V // distinct ones, at most 16
	codes   [4 * simd.TableLen]uint8
}

// Storage is how the values will be stored.
func (s *ValueSet[V]) Storage() simd.Storage { return s.storage }

// FindValues looks at all values and gives the way to store them that takes the
// fewest bytes: all the same, at most 16 distinct ones, float32. Values are the
// same when all their bits are. It ends early at values that allow none of these.
func FindValues[V sparse.Value](val []V) ValueSet[V] {
	s := ValueSet[V]{storage: simd.Table}
	if len(val) == 0 {
		return ValueSet[V]{}
	}
	_, double := any(val[0]).(float64)
	few, short := true, double
	for i, v := range val {
		if i > 0 && bitsOf(v) == bitsOf(val[i-1]) {
			continue
		}
		few = few && s.add(v)
		short = short && bitsOf(V(float32(v))) == bitsOf(v)
		if !few && !short {
			return ValueSet[V]{}
		}
	}
	switch {
	case few && len(s.values) == 1:
		s.storage = simd.Same
	case few:
	case short:
		return ValueSet[V]{storage: simd.Short}
	}
	return s
}

// add notes a value. It is false when there are too many.
func (s *ValueSet[V]) add(v V) bool {
	slot := s.slot(v)
	if s.codes[slot] == 0 {
		if len(s.values) == simd.TableLen {
			return false
		}
		s.values = append(s.values, v)
		s.codes[slot] = uint8(len(s.values))
	}
	return true
}

// code is the number of a value that was noted.
func (s *ValueSet[V]) code(v V) uint8 { return s.codes[s.slot(v)] - 1 }

// slot is where the code of v stands, or a free place for it.
func (s *ValueSet[V]) slot(v V) int {
	at := int(bitsOf(v) * 0x9E3779B97F4A7C15 >> 58)
	for s.codes[at] != 0 && bitsOf(s.values[s.codes[at]-1]) != bitsOf(v) {
		at = (at + 1) % len(s.codes)
	}
	return at
}

// bitsOf tells values apart that == does not: zeros by sign, and NaNs.
func bitsOf[V sparse.Value](v V) uint64 {
	switch v := any(v).(type) {
	case float64:
		return math.Float64bits(v)
	case float32:
		return uint64(math.Float32bits(v))
	}
	return 0
}

// store makes room for columns of values.
func (s *ValueSet[V]) store(m *Memory, lanes int, columns int64) (simd.Values[V], error) {
	out := simd.Values[V]{Storage: s.storage, Lanes: lanes}
	var err error
	switch s.storage {
	case simd.Full:
		out.Full, err = Make[V](m, columns*int64(lanes))
	case simd.Short:
		out.Short, err = Make[float32](m, columns*int64(lanes))
	case simd.Table:
		out.Codes, err = Make[uint8](m, columns*int64(lanes)/2)
	}
	if s.storage == simd.Table || s.storage == simd.Same {
		out.Table = make([]V, simd.TableLen)
		copy(out.Table, s.values)
	}
	return out, err
}

// put stores values in one lane of successive columns, from value k of out on.
func (s *ValueSet[V]) put(out *simd.Values[V], k int, val []V) {
	switch s.storage {
	case simd.Full:
		for _, v := range val {
			out.Full[k] = v
			k += out.Lanes
		}
	case simd.Short:
		for _, v := range val {
			out.Short[k] = float32(v)
			k += out.Lanes
		}
	case simd.Table:
		for _, v := range val {
			out.SetCode(k, s.code(v))
			k += out.Lanes
		}
	}
}

// valueBytes is the memory of stored values.
func valueBytes[V sparse.Value](v *simd.Values[V]) int64 {
	return mem.Size[V]()*int64(len(v.Full)+len(v.Table)) + 4*int64(len(v.Short)) + int64(len(v.Codes))
}
