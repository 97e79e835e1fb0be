package form

import (
	"bytes"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// ValueSet describes how values are stored in fewer bytes without loss. The zero value stores them
// as Full.
type ValueSet[V sparse.Value] struct {
	StoredAs Storage
	Values   []V // distinct values, at most 16
	codes    [4 * TableLen]uint8
	set57    set57[V] // for Bits57
}

// Storage returns how the values are stored.
func (s *ValueSet[V]) Storage() Storage { return s.StoredAs }

// FindValues returns the storage of values that needs the fewest bytes: one value if all are equal,
// a table of at most 16 distinct values, float32, or Full. Values are equal if all their bits are.
// It returns early if only Full is possible.
func FindValues[V sparse.Value](val []V) ValueSet[V] {
	s := ValueSet[V]{StoredAs: Table}
	if len(val) == 0 {
		return ValueSet[V]{}
	}
	_, short := any(val[0]).(float64)
	few := true
	for i, v := range val {
		if v != 0 && (i > 0 && v == val[i-1] || i > 1 && v == val[i-2]) { // both, in stencils; -0 == 0 has other bits
			continue
		}
		few = few && s.add(v)
		short = short && BitsOf(V(float32(v))) == BitsOf(v)
		if !few && !short {
			return ValueSet[V]{}
		}
	}
	switch {
	case !few:
		return ValueSet[V]{StoredAs: Short}
	case len(s.Values) == 1:
		s.StoredAs = Same
	}
	return s
}

// add adds a value to the table. It returns false if the table is full.
func (s *ValueSet[V]) add(v V) bool {
	slot := s.slot(v)
	if s.codes[slot] == 0 {
		if len(s.Values) == TableLen {
			return false
		}
		s.Values = append(s.Values, v)
		s.codes[slot] = uint8(len(s.Values))
	}
	return true
}

// code returns the number of a value in the table.
func (s *ValueSet[V]) code(v V) uint8 { return s.codes[s.slot(v)] - 1 }

// slot returns the index of the code of v, or of a free slot for it (linear probing).
func (s *ValueSet[V]) slot(v V) int {
	at := int(BitsOf(v) * 0x9E3779B97F4A7C15 >> 58)
	for s.codes[at] != 0 && BitsOf(s.Values[s.codes[at]-1]) != BitsOf(v) {
		at = (at + 1) % len(s.codes)
	}
	return at
}

// SameBits reports whether a and b have the same length and the same bits.
func SameBits[T mem.Elem](a, b []T) bool { return bytes.Equal(mem.Bytes(a), mem.Bytes(b)) }

// BitsOf returns the bits of v, which differ for values that == confuses: zeros of either sign, and
// NaNs.
func BitsOf[V sparse.Value](v V) uint64 {
	switch v := any(v).(type) {
	case float64:
		return math.Float64bits(v)
	case float32:
		return uint64(math.Float32bits(v))
	}
	return 0
}

// Store allocates columns of values.
func (s *ValueSet[V]) Store(m *Memory, lanes int, columns int64) (Values[V], error) {
	out := Values[V]{Storage: s.StoredAs, Lanes: lanes}
	var err error
	switch s.StoredAs {
	case Full:
		out.Full, err = Make[V](m, columns*int64(lanes))
	case Short:
		out.Short, err = Make[float32](m, columns*int64(lanes))
	case Table:
		out.Codes, err = Make[uint8](m, columns*int64(lanes)/2)
	case Bits57:
		out.Bits57, err = s.make57(m, columns*int64(lanes))
	}
	if s.StoredAs == Table || s.StoredAs == Same {
		out.Table = make([]V, TableLen)
		copy(out.Table, s.Values)
	}
	return out, err
}

// Put stores values in the slots k, k+step, ...
func (s *ValueSet[V]) Put(out *Values[V], k, step int, val []V) {
	switch s.StoredAs {
	case Full:
		for _, v := range val {
			out.Full[k] = v
			k += step
		}
	case Short:
		for _, v := range val {
			out.Short[k] = float32(v)
			k += step
		}
	case Table:
		for _, v := range val {
			out.SetCode(k, s.code(v))
			k += step
		}
	case Bits57:
		k -= s.set57.first
		for _, v := range val {
			s.set57.slice[k] = v
			k += step
		}
	}
}

// Put4 is put for four adjacent slots: slot k+l gets the n values from val[at[l]] on.
func (s *ValueSet[V]) Put4(out *Values[V], k, step int, val []V, at *[4]int64, n int) {
	if n == 0 {
		return // slot k may not exist
	}
	switch s.StoredAs {
	case Full:
		Interleave(out.Full[k:], step, val, at, n)
	case Bits57:
		Interleave(s.set57.slice[k-s.set57.first:], step, val, at, n)
	case Short:
		a, b, c, d := Four(val, at, n)
		to := out.Short[k:]
		for j := range a {
			o := (*[4]float32)(to[j*step:])
			o[0], o[1], o[2], o[3] = float32(a[j]), float32(b[j]), float32(c[j]), float32(d[j])
		}
	case Table:
		for l, from := range at {
			s.Put(out, k+l, step, val[from:from+int64(n)])
		}
	}
}

// Interleave sets to[j*step+l] = from[at[l]+j] for four rows l of n elements.
func Interleave[T any](to []T, step int, from []T, at *[4]int64, n int) {
	a, b, c, d := Four(from, at, n)
	for j := range a {
		o := (*[4]T)(to[j*step:])
		o[0], o[1], o[2], o[3] = a[j], b[j], c[j], d[j]
	}
}

// Four returns the n elements from each of four indices on.
func Four[T any](from []T, at *[4]int64, n int) (a, b, c, d []T) {
	return from[at[0]:][:n], from[at[1]:][:n], from[at[2]:][:n], from[at[3]:][:n]
}

// PutAt stores val[k] in slot places[k]. The storage is not a table.
func (s *ValueSet[V]) PutAt(out *Values[V], places []int64, val []V) {
	val = val[:len(places)]
	switch s.StoredAs {
	case Full:
		for k, at := range places {
			out.Full[at] = val[k]
		}
	case Short:
		for k, at := range places {
			out.Short[at] = float32(val[k])
		}
	}
}

// WithoutTable returns s with another storage if s uses a table: a table is read by pairs of
// values, but tiles begin at any entry.
func (s ValueSet[V]) WithoutTable() ValueSet[V] {
	switch s.StoredAs {
	case Bits57:
		return s.Not57()
	case Table:
	default:
		return s
	}
	s.StoredAs = Full
	if mem.Size[V]() == 8 && !slices.ContainsFunc(s.Values, func(v V) bool { return BitsOf(V(float32(v))) != BitsOf(v) }) {
		s.StoredAs = Short
	}
	return s
}

// ValueBytes returns the memory of stored values.
func ValueBytes[V sparse.Value](v *Values[V]) int64 {
	return mem.Size[V]()*int64(len(v.Full)+len(v.Table)) + 4*int64(len(v.Short)) + int64(len(v.Codes)) + bytes57(v.Bits57)
}
