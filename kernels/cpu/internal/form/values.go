package form

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Storage is how the values of a form are stored. Products have the same bits with each storage.
type Storage int

// The storages of values.
const (
	Full     Storage = iota // without change
	Short                   // float32, for float64 values that are exact in float32
	Table                   // 4-bit codes, for at most 16 distinct values
	Same                    // one value for all
	Bits57                  // 57 bits, for float64 values with similar exponents; see Values57
	Storages                // number of storages
)

func (s Storage) String() string {
	return [...]string{"full", "short", "table", "same", "bits57"}[s]
}

// Bits returns the bits of a value that takes size bytes in full.
func (s Storage) Bits(size int) int {
	switch s {
	case Short:
		return 32
	case Bits57:
		return 57
	case Table:
		return 4
	case Same:
		return 0
	}
	return 8 * size
}

// TableLen is the number of values of a table.
const TableLen = 16

// Values stores values in columns: value k is in lane k%Lanes of column k/Lanes. Storage says which
// array is used.
type Values[V sparse.Value] struct {
	Storage Storage
	Lanes   int
	Full    []V
	Short   []float32
	Codes   []uint8
	Bits57  *Values57
	// Table has the 16 values of storage Table, or at least the one value of storage Same.
	Table []V
	args  expandArgs[V] // of a kernel during a call; see ManyArgs
}

// At returns value k.
func (v *Values[V]) At(k int) V {
	switch v.Storage {
	case Short:
		return V(v.Short[k])
	case Table:
		at, shift := v.nibble(k)
		return v.Table[v.Codes[at]>>shift&15]
	case Same:
		return v.Table[0]
	case Bits57:
		return V(v.Bits57.value(k))
	}
	return v.Full[k]
}

// Expanded is a buffer for values that plain Go expands, for whole columns. The zero value is
// empty.
type Expanded[V sparse.Value] struct {
	Val   [256]V
	Holds int // identifies the contents if several columns share them; chosen by the caller, 0 for none
}

// ValuesFrom returns values from value k on: all n if they are stored Full, otherwise as many as
// fit in room.
func (v *Values[V]) ValuesFrom(k, n int, room *Expanded[V]) []V {
	if v.Storage == Full {
		return v.Full[k : k+n]
	}
	n = min(n, len(room.Val))
	switch {
	case v.Storage != Same:
		v.Expand(k, room.Val[:n])
	case room.Holds == 0:
		v.Expand(k, room.Val[:])
		room.Holds = 1
	}
	return room.Val[:n]
}

// Expand sets out to the values from value k on.
func (v *Values[V]) Expand(k int, out []V) {
	switch v.Storage {
	case Full:
		copy(out, v.Full[k:])
	case Short:
		for i, s := range v.Short[k : k+len(out)] {
			out[i] = V(s)
		}
	case Same:
		for i := range out {
			out[i] = v.Table[0]
		}
	default:
		for i := range out {
			out[i] = v.At(k + i)
		}
	}
}

// SetCode stores the code of value k, which must be 0 before.
func (v *Values[V]) SetCode(k int, code uint8) {
	at, shift := v.nibble(k)
	v.Codes[at] |= code << shift
}

// nibble returns the position of the code of value k. 16 lanes load the same 64 bits, so that even
// lanes have the lower 32 bits and odd lanes the upper ones: the codes of even lanes are stored in
// the lower half.
func (v *Values[V]) nibble(k int) (at int, shift uint) {
	if v.Lanes == 16 {
		lane := k & 15
		k += lane&1<<3 + lane>>1 - lane
	}
	return k >> 1, uint(k&1) << 2
}

// From returns the memory of column c, for assembly.
func (v *Values[V]) From(c int) *byte {
	k := c * v.Lanes
	switch v.Storage {
	case Short:
		return BytesFrom(v.Short, k)
	case Table:
		return BytesFrom(v.Codes, k/2)
	case Same:
		return nil
	case Bits57:
		return BytesFrom(v.Bits57.Bytes, k/8*eight57)
	}
	return BytesFrom(v.Full, k)
}

// Entry returns the memory of value k, for kernels of values that are stored Full, Short or Same.
func (v *Values[V]) Entry(k int) *byte {
	switch v.Storage {
	case Full:
		return BytesFrom(v.Full, k)
	case Short:
		return BytesFrom(v.Short, k)
	}
	return BytesFrom(v.Table, 0)
}

// Address returns the address of column c, which may be after the last one, for prefetching.
func (v *Values[V]) Address(c int) uintptr {
	return uintptr(unsafe.Pointer(v.From(0))) + uintptr(c*v.ColumnBytes())
}

// ColumnBytes returns the bytes of a column.
func (v *Values[V]) ColumnBytes() int {
	return v.Storage.Bits(int(unsafe.Sizeof(*new(V)))) * v.Lanes / 8
}

// TableAt returns the second argument of kernels that begin at column c: Table, or a cursor57, which
// is valid until the next call.
func (v *Values[V]) TableAt(c int) *V {
	if v.Storage == Bits57 {
		return (*V)(unsafe.Pointer(v.Bits57.from(c * v.Lanes)))
	}
	return unsafe.SliceData(v.Table)
}

// BytesFrom returns the address of element k of s; k may be len(s).
func BytesFrom[T any](s []T, k int) *byte {
	return (*byte)(unsafe.Pointer(unsafe.SliceData(s[k:])))
}
