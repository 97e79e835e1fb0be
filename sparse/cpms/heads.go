package cpms

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// headPad is the number of bytes in front of the first value of Heads: kernels read
// value i as the 8 bytes that end where it ends, without the first of them.
const headPad = 64

// Heads is a vector that keeps the first Width bytes of each value, one value after
// the other: with the low byte first, or as plain float64 when the width is 8. The
// width may change between uses; the memory stays.
type Heads struct {
	mem    []byte    // headPad bytes, then the values
	floats []float64 // the values, when the width is 8
	n      int
	width  int
}

// headBytes is the memory that NewHeads takes for n values of up to width bytes.
func headBytes(n, width int) int64 { return headPad + int64(n)*int64(width) }

// NewHeads makes a vector of n zeros, in memory for values of up to width bytes:
// 2, 4, 6 or 8. Errors are *sparse.InputError.
func NewHeads(n, width int) (*Heads, error) {
	if n < 0 || n > sparse.MaxDim {
		return nil, sparse.Inputf("n", "%d values: use 0 to %d", n, sparse.MaxDim)
	}
	if !validWidth(width) {
		return nil, sparse.Inputf("width", "%d bytes: use 2, 4, 6 or 8", width)
	}
	if err := fits(int64(n), int64(width)); err != nil {
		return nil, err
	}
	h := &Heads{mem: mem.Aligned(headBytes(n, width)), n: n}
	h.SetWidth(width)
	return h, nil
}

// HeadsOf is v itself as a vector of width 8.
func HeadsOf(v []float64) *Heads { return &Heads{floats: v, n: len(v), width: 8} }

func validWidth(w int) bool { return w == 2 || w == 4 || w == 6 || w == 8 }

// Len is the number of values.
func (h *Heads) Len() int { return h.n }

// Width is the number of bytes of each value.
func (h *Heads) Width() int { return h.width }

// SetWidth changes the number of bytes of each value. What the vector held is
// lost: write it before reading it again.
func (h *Heads) SetWidth(width int) {
	if !validWidth(width) || headBytes(h.n, width) > int64(len(h.mem)) {
		panic(fmt.Sprintf("cpms: width %d in a vector of %d values and %d bytes", width, h.n, len(h.mem)))
	}
	h.width, h.floats = width, nil
	if width == 8 {
		h.floats, _ = mem.Slice[float64](h.mem[headPad:], int64(h.n))
	}
}

// At is value i. It reads no byte of its neighbours, which may be written meanwhile.
func (h *Heads) At(i int) float64 {
	if h.width == 8 {
		return h.floats[i]
	}
	p := h.mem[headPad+i*h.width:][:h.width]
	switch h.width {
	case 2:
		return math.Float64frombits(uint64(binary.LittleEndian.Uint16(p)) << 48)
	case 4:
		return math.Float64frombits(uint64(binary.LittleEndian.Uint32(p)) << 32)
	}
	return math.Float64frombits(uint64(binary.LittleEndian.Uint16(p))<<16 | uint64(binary.LittleEndian.Uint32(p[2:]))<<32)
}

// Set writes value i, cut to the width towards zero; a NaN stays one.
func (h *Heads) Set(i int, v float64) {
	if h.width == 8 {
		h.floats[i] = v
		return
	}
	u := keep(math.Float64bits(v), 8*h.width, Truncate)
	p := h.mem[headPad+i*h.width:][:h.width]
	switch h.width {
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(u>>48))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(u>>32))
	default:
		binary.LittleEndian.PutUint16(p, uint16(u>>16))
		binary.LittleEndian.PutUint32(p[2:], uint32(u>>32))
	}
}

// Floats is the vector itself where the width is 8, nil otherwise.
func (h *Heads) Floats() []float64 { return h.floats }

// Tails is the memory for kernels, for widths below 8, from 8 bytes before the end of value 0
// on: value i is the 8 bytes at Width*i, low byte first, without the bits that
// HeadMask lacks. It must not be read while other values are written.
func (h *Heads) Tails() []byte { return h.mem[headPad+h.width-8:] }

// HeadMask has the bits of a float64 that its first width bytes hold.
func HeadMask(width int) uint64 { return ^uint64(0) << (64 - 8*width) }
