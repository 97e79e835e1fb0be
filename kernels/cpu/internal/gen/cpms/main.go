// Command cpms generates the kernels of values in segments and of vectors of heads.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// ahead is the number of bytes by which segments and indices are prefetched.
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
	lanes.WriteFiles()
}

// widths are the bytes of a value that a vector stores.
var widths = []int{2, 4, 6, 8}

// headMasks defines the bits that each width stores, in registers of 64 bytes, in the order of
// widths; then a mask of all bits except the sign.
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

// head returns the 8 bytes that end with value g of a vector of w bytes per value. It may change g.
func head(x Register, g GPVirtual, w int) Mem {
	if w != 6 {
		return Mem{Base: x, Index: g, Scale: uint8(w)}
	}
	LEAQ(Mem{Base: g, Index: g, Scale: 2}, g)
	return Mem{Base: x, Index: g, Scale: 2}
}

// keep clears the bits of v that the width does not store.
func keep(v, mask Op, w int) {
	if w < 8 {
		VANDPD(mask, v, v)
	}
}
