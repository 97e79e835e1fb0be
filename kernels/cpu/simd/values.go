package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Storage is how the values of a form are stored. A product gets the same bits
// from each.
type Storage int

// The ways to store values.
const (
	Full     Storage = iota // as they are
	Short                   // as float32, for float64 values that are exactly that
	Table                   // 4 bits each, which choose one of 16 values
	Same                    // not at all: one value for all
	Bits57                  // 57 bits, for float64 values whose exponents are near each other; see Values57
	storages                // their number
)

func (s Storage) String() string {
	return [...]string{"full", "short", "table", "same", "bits57"}[s]
}

// Bits is the bits that a value of so many bytes takes.
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

// TableLen is the number of values in a table.
const TableLen = 16

// Values is values in columns: value k is the one in lane k%Lanes of column
// k/Lanes. One of the arrays is used, as Storage says.
type Values[V sparse.Value] struct {
	Storage Storage
	Lanes   int
	Full    []V
	Short   []float32
	Codes   []uint8
	Bits57  *Values57
	// Table is the 16 values of Table, or at least the one value of Same.
	Table []V
}

// At is value k.
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

// expanded is room in which plain Go makes values of full length, for whole columns. The zero value is empty.
type expanded[V sparse.Value] struct {
	val   [256]V
	holds int // what is in it, if that is the same for many columns: a number of the caller's; 0 for nothing
}

// some is values from k on: all n of them where they are stored Full, otherwise as many as there is room for.
func (v *Values[V]) some(k, n int, room *expanded[V]) []V {
	if v.Storage == Full {
		return v.Full[k : k+n]
	}
	n = min(n, len(room.val))
	switch {
	case v.Storage != Same:
		v.expand(k, room.val[:n])
	case room.holds == 0:
		v.expand(k, room.val[:])
		room.holds = 1
	}
	return room.val[:n]
}

// expand is the values from k on, at full length.
func (v *Values[V]) expand(k int, out []V) {
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

// nibble is where the code of value k lies. 16 lanes are taken from 64 bits of
// which even lanes have the lower half: so they lie in 32-bit words after they were
// loaded to all lanes.
func (v *Values[V]) nibble(k int) (at int, shift uint) {
	if v.Lanes == 16 {
		lane := k & 15
		k += lane&1<<3 + lane>>1 - lane
	}
	return k >> 1, uint(k&1) << 2
}

// from is where column c begins, for assembly.
func (v *Values[V]) from(c int) *byte {
	k := c * v.Lanes
	switch v.Storage {
	case Short:
		return bytesFrom(v.Short, k)
	case Table:
		return bytesFrom(v.Codes, k/2)
	case Same:
		return nil
	case Bits57:
		return bytesFrom(v.Bits57.Bytes, k/8*eight57)
	}
	return bytesFrom(v.Full, k)
}

// entry is where value k lies, for kernels of values that are stored Full, Short or Same.
func (v *Values[V]) entry(k int) *byte {
	switch v.Storage {
	case Full:
		return bytesFrom(v.Full, k)
	case Short:
		return bytesFrom(v.Short, k)
	}
	return bytesFrom(v.Table, 0)
}

// address is where column c begins, or where it would behind the last one: for asking for
// memory ahead of time.
func (v *Values[V]) address(c int) uintptr {
	return uintptr(unsafe.Pointer(v.from(0))) + uintptr(c*v.columnBytes())
}

// columnBytes is the bytes of a column.
func (v *Values[V]) columnBytes() int {
	return v.Storage.Bits(int(unsafe.Sizeof(*new(V)))) * v.Lanes / 8
}

// table is what assembly needs besides when it begins at column c: Table, or a
// cursor57. It holds until the next call.
func (v *Values[V]) table(c int) *V {
	if v.Storage == Bits57 {
		return (*V)(unsafe.Pointer(v.Bits57.from(c * v.Lanes)))
	}
	return unsafe.SliceData(v.Table)
}

// bytesFrom is where element k of s lies; k may be len(s).
func bytesFrom[T any](s []T, k int) *byte {
	return (*byte)(unsafe.Pointer(unsafe.SliceData(s[k:])))
}
