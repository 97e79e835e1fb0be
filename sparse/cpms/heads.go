package cpms

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// headPad is the number of bytes before the first value of Heads. Kernels read value i as
// the 8 bytes that end at the end of the value, and these begin before the value.
const headPad = 64

// Heads is a vector that stores the first Width bytes of each value, without gaps: low
// byte first, or as plain float64 if the width is 8. The width may change between uses;
// the memory does not.
type Heads struct {
	mem    []byte    // headPad bytes, then the values
	floats []float64 // the values, if the width is 8
	n      int
	width  int
}

// headBytes returns the bytes of memory that NewHeads takes for n values of up to width
// bytes.
func headBytes(n, width int) int64 { return headPad + int64(n)*int64(width) }

// NewHeads returns a vector of n zeros with memory for values of up to width bytes, which
// is 2, 4, 6 or 8. Errors are *sparse.InputError.
func NewHeads(n, width int) (*Heads, error) {
	if n < 0 || n > sparse.MaxDim {
		return nil, sparse.Inputf("n", "%d values: use 0 to %d", n, sparse.MaxDim)
	}
	if !validWidth(width) {
		return nil, sparse.Inputf("width", "%d bytes: use 2, 4, 6 or 8", width)
	}
	if err := checkMemory(int64(n), int64(width)); err != nil {
		return nil, err
	}
	h := &Heads{mem: mem.Aligned(headBytes(n, width)), n: n}
	h.SetWidth(width)
	return h, nil
}

// HeadsOf returns a vector of width 8 that uses the memory of v.
func HeadsOf(v []float64) *Heads { return &Heads{floats: v, n: len(v), width: 8} }

func validWidth(w int) bool { return w == 2 || w == 4 || w == 6 || w == 8 }

// Len returns the number of values.
func (h *Heads) Len() int { return h.n }

// Width returns the number of bytes of each value.
func (h *Heads) Width() int { return h.width }

// SetWidth sets the number of bytes of each value. The old values are lost: write the
// vector before reading it again. SetWidth panics if the width is not 2, 4, 6 or 8, or if
// the memory is too small.
func (h *Heads) SetWidth(width int) {
	if !validWidth(width) || headBytes(h.n, width) > int64(len(h.mem)) {
		panic(fmt.Sprintf("cpms: width %d in a vector of %d values and %d bytes", width, h.n, len(h.mem)))
	}
	h.width, h.floats = width, nil
	if width == 8 {
		h.floats, _ = mem.Slice[float64](h.mem[headPad:], int64(h.n))
	}
}

// At returns value i. It reads no byte of other values, so these may be written at the
// same time.
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

// Set writes value i, truncated to the width; a NaN stays a NaN.
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

// Floats returns the memory of the vector if the width is 8, else nil.
func (h *Heads) Floats() []float64 { return h.floats }

// Tails returns the memory of the vector for kernels, for widths below 8. A kernel reads
// the 8 bytes from Width*i on, low byte first, and masks them with HeadMask: that is value
// i, because the memory begins 8-Width bytes before value 0. These 8 bytes include bytes of
// earlier values, so no value may be written meanwhile.
func (h *Heads) Tails() []byte { return h.mem[headPad+h.width-8:] }

// HeadMask returns the mask of the first (most significant) width bytes of a float64: the
// sign, the exponent and the first mantissa bits.
func HeadMask(width int) uint64 { return ^uint64(0) << (64 - 8*width) }
