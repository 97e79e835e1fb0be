// Command cpms generates the kernels of values in segments and of vectors of
// which only the first bytes are kept.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// ahead is how many bytes before their use segments and indices are asked for.
const ahead = 1024

func main() {
	masks := headMasks()
	for _, l := range []lanes.Lanes{{Double: true}, {Double: true, Long: true}} {
		for _, segments := range []int{2, 4} {
			for k := 1; k <= segments; k++ {
				join(l, segments, k)
			}
		}
		for _, v := range allValues {
			for _, w := range v.widths {
				slices(l, v, w, false, masks)
				slices(l, v, w, true, masks)
			}
		}
	}
	for _, v := range allValues {
		for _, w := range v.widths {
			rows(v, w, masks)
		}
	}
	for _, w := range []int{4, 6, 8} {
		rank(w, masks, true)
		rank(w, masks, false)
	}
	Generate()
}

// widths is the bytes that a vector keeps of each value.
var widths = []int{2, 4, 6, 8}

// headMasks is the bits that each width keeps, a register of 64 bytes each, in the
// order of widths; then one with all bits but the sign.
func headMasks() func(w int) Mem {
	m := GLOBL("headMasks", RODATA|NOPTR)
	put := func(at int, v uint64) {
		for i := range 8 {
			DATA(64*at+8*i, U64(v))
		}
	}
	for i, w := range widths {
		put(i, ^uint64(0)<<(64-8*w))
	}
	put(len(widths), 1<<63-1)
	return func(w int) Mem { return m.Offset(64 * (w/2 - 1)) }
}

// absolute is the "width" of the mask without the sign.
const absolute = 10

// head is the place of value g of a vector of so many bytes a value: the 8 bytes
// that end with it. It may change g.
func head(x Register, g GPVirtual, w int) Mem {
	if w != 6 {
		return Mem{Base: x, Index: g, Scale: uint8(w)}
	}
	LEAQ(Mem{Base: g, Index: g, Scale: 2}, g)
	return Mem{Base: x, Index: g, Scale: 2}
}

// keep clears the bits of v that the width has no room for.
func keep(v, mask Op, w int) {
	if w < 8 {
		VANDPD(mask, v, v)
	}
}
