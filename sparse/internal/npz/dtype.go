package npz

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/msrep-go/msrep/sparse"
)

// dtype is the type of the items of an array.
type dtype struct {
	name  string // as NumPy writes it, such as <f8
	kind  byte   // f, i, u, b, S or U
	size  int    // bytes of an item
	order binary.ByteOrder
}

// parseDtype parses the types of numbers, bool and short strings.
func parseDtype(name string) (dtype, error) {
	d := dtype{name: name, order: binary.LittleEndian}
	unsupported := fmt.Errorf("holds items of type %q, which is not supported: only float32, float64, integers and bool are", clip(name))
	if len(name) < 2 {
		return d, unsupported
	}
	d.kind = name[1]
	if d.kind == 'O' {
		return d, fmt.Errorf("holds Python objects: pickled objects are never read")
	}
	if d.kind == 'c' {
		return d, fmt.Errorf("holds complex numbers (%s): %w", clip(name), sparse.ErrComplex)
	}
	size, err := strconv.ParseUint(name[2:], 10, 16)
	if err != nil {
		return d, unsupported
	}
	d.size = int(size)
	ok := false
	switch d.kind {
	case 'f':
		ok = size == 4 || size == 8
	case 'i', 'u':
		ok = size == 1 || size == 2 || size == 4 || size == 8
	case 'b':
		ok = size == 1
	case 'S':
		ok = true
	case 'U':
		d.size *= 4
		ok = true
	}
	switch name[0] {
	case '<':
	case '>':
		d.order = binary.BigEndian
	case '|':
		ok = ok && (d.size <= 1 || d.kind == 'S')
	default:
		ok = false
	}
	if !ok {
		return d, unsupported
	}
	return d, nil
}

// integer reports whether the items are integers.
func (d dtype) integer() bool { return d.kind == 'i' || d.kind == 'u' }

// field returns the field of a matrix with such values; for bool it also depends on the
// values.
func (d dtype) field() sparse.Field {
	if d.kind == 'f' {
		return sparse.Real
	}
	return sparse.Integer
}

// int returns the integer at the start of b, or the largest int64 if it is larger.
func (d dtype) int(b []byte) int64 {
	switch d.size {
	case 1:
		if d.kind == 'i' {
			return int64(int8(b[0]))
		}
		return int64(b[0])
	case 2:
		v := d.order.Uint16(b)
		if d.kind == 'i' {
			return int64(int16(v))
		}
		return int64(v)
	case 4:
		v := d.order.Uint32(b)
		if d.kind == 'i' {
			return int64(int32(v))
		}
		return int64(v)
	}
	v := d.order.Uint64(b)
	if d.kind == 'u' && v > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}

// floats decodes len(to) values from b.
func (d dtype) floats(to []float64, b []byte) {
	switch {
	case d.kind == 'f' && d.size == 8 && d.order == binary.LittleEndian:
		for k := range to {
			to[k] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*k:]))
		}
	case d.kind == 'f' && d.size == 8:
		for k := range to {
			to[k] = math.Float64frombits(d.order.Uint64(b[8*k:]))
		}
	case d.kind == 'f':
		for k := range to {
			to[k] = float64(math.Float32frombits(d.order.Uint32(b[4*k:])))
		}
	case d.kind == 'b':
		for k := range to {
			to[k] = 0
			if b[k] != 0 {
				to[k] = 1
			}
		}
	case d.kind == 'u' && d.size == 8:
		for k := range to {
			to[k] = float64(d.order.Uint64(b[8*k:]))
		}
	default:
		for k := range to {
			to[k] = float64(d.int(b[d.size*k:]))
		}
	}
}
