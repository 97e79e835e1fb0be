package form

import (
	"bytes"
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// ValueSet describes how values are stored in fewer bytes without loss. The zero value stores them
// as Full.
type ValueSet[V sparse.Value] struct {
	storage simd.Storage
	values  []V // distinct values, at most 16
	codes   [4 * simd.TableLen]uint8
	set57   set57[V] // for Bits57
}

// Storage returns how the values are stored.
func (s *ValueSet[V]) Storage() simd.Storage { return s.storage }

// FindValues returns the storage of values that needs the fewest bytes: one value if all are equal,
// a table of at most 16 distinct values, float32, or Full. Values are equal if all their bits are.
// It returns early if only Full is possible.
func FindValues[V sparse.Value](val []V) ValueSet[V] {
	s := ValueSet[V]{storage: simd.Table}
	if len(val) == 0 {
		return ValueSet[V]{}
	}
	_, short := any(val[0]).(float64)
	few := true
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
	case !few:
		return ValueSet[V]{storage: simd.Short}
	case len(s.values) == 1:
		s.storage = simd.Same
	}
	return s
}

// add adds a value to the table. It returns false if the table is full.
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

// code returns the number of a value in the table.
func (s *ValueSet[V]) code(v V) uint8 { return s.codes[s.slot(v)] - 1 }

// slot returns the index of the code of v, or of a free slot for it (linear probing).
func (s *ValueSet[V]) slot(v V) int {
	at := int(bitsOf(v) * 0x9E3779B97F4A7C15 >> 58)
	for s.codes[at] != 0 && bitsOf(s.values[s.codes[at]-1]) != bitsOf(v) {
		at = (at + 1) % len(s.codes)
	}
	return at
}

// sameBits reports whether a and b have the same length and the same bits.
func sameBits[T mem.Elem](a, b []T) bool { return bytes.Equal(mem.Bytes(a), mem.Bytes(b)) }

// bitsOf returns the bits of v, which differ for values that == confuses: zeros of either sign, and
// NaNs.
func bitsOf[V sparse.Value](v V) uint64 {
	switch v := any(v).(type) {
	case float64:
		return math.Float64bits(v)
	case float32:
		return uint64(math.Float32bits(v))
	}
	return 0
}

// store allocates columns of values.
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
	case simd.Bits57:
		out.Bits57, err = s.make57(m, columns*int64(lanes))
	}
	if s.storage == simd.Table || s.storage == simd.Same {
		out.Table = make([]V, simd.TableLen)
		copy(out.Table, s.values)
	}
	return out, err
}

// put stores values in the slots k, k+step, ...
func (s *ValueSet[V]) put(out *simd.Values[V], k, step int, val []V) {
	switch s.storage {
	case simd.Full:
		for _, v := range val {
			out.Full[k] = v
			k += step
		}
	case simd.Short:
		for _, v := range val {
			out.Short[k] = float32(v)
			k += step
		}
	case simd.Table:
		for _, v := range val {
			out.SetCode(k, s.code(v))
			k += step
		}
	case simd.Bits57:
		k -= s.set57.first
		for _, v := range val {
			s.set57.slice[k] = v
			k += step
		}
	}
}

// put4 is put for four adjacent slots: slot k+l gets the n values from val[at[l]] on.
func (s *ValueSet[V]) put4(out *simd.Values[V], k, step int, val []V, at *[4]int64, n int) {
	if n == 0 {
		return // slot k may not exist
	}
	switch s.storage {
	case simd.Full:
		interleave(out.Full[k:], step, val, at, n)
	case simd.Bits57:
		interleave(s.set57.slice[k-s.set57.first:], step, val, at, n)
	case simd.Short:
		a, b, c, d := four(val, at, n)
		to := out.Short[k:]
		for j := range a {
			o := (*[4]float32)(to[j*step:])
			o[0], o[1], o[2], o[3] = float32(a[j]), float32(b[j]), float32(c[j]), float32(d[j])
		}
	case simd.Table:
		for l, from := range at {
			s.put(out, k+l, step, val[from:from+int64(n)])
		}
	}
}

// interleave sets to[j*step+l] = from[at[l]+j] for four rows l of n elements.
func interleave[T any](to []T, step int, from []T, at *[4]int64, n int) {
	a, b, c, d := four(from, at, n)
	for j := range a {
		o := (*[4]T)(to[j*step:])
		o[0], o[1], o[2], o[3] = a[j], b[j], c[j], d[j]
	}
}

// four returns the n elements from each of four indices on.
func four[T any](from []T, at *[4]int64, n int) (a, b, c, d []T) {
	return from[at[0]:][:n], from[at[1]:][:n], from[at[2]:][:n], from[at[3]:][:n]
}

// putAt stores val[k] in slot places[k]. The storage is not a table.
func (s *ValueSet[V]) putAt(out *simd.Values[V], places []int64, val []V) {
	val = val[:len(places)]
	switch s.storage {
	case simd.Full:
		for k, at := range places {
			out.Full[at] = val[k]
		}
	case simd.Short:
		for k, at := range places {
			out.Short[at] = float32(val[k])
		}
	}
}

// valueBytes returns the memory of stored values.
func valueBytes[V sparse.Value](v *simd.Values[V]) int64 {
	return mem.Size[V]()*int64(len(v.Full)+len(v.Table)) + 4*int64(len(v.Short)) + int64(len(v.Codes)) + bytes57(v.Bits57)
}
