package lanes

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Words are integers as wide as an element.

// Define defines n words as data of the file, by their numbers.
func (l Lanes) Define(name string, n int, word func(i int) uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range n {
		if l.Double {
			DATA(8*i, U64(word(i)))
		} else {
			DATA(4*i, U32(uint32(word(i))))
		}
	}
	return m
}

// defineBoth is Define for both types; the name gets the bits of a word behind it, and there are
// as many as an AVX2 register has lanes.
func defineBoth(name string, word func(i int) uint64) {
	for _, l := range []Lanes{{Double: true}, {}} {
		l.Define(l.ofType(name), l.Count(), word)
	}
}

// ofType is the name of data of which there is one for each type.
func (l Lanes) ofType(name string) string { return fmt.Sprintf("%s%d", name, 8*l.Size()) }

// static is data of the file.
func static(name string) Mem { return NewDataAddr(Symbol{Name: name, Static: true}, 0) }

// Fill puts a word in each lane of v.
func (l Lanes) Fill(word uint64, v VecVirtual) {
	g := GP64()
	if l.Double {
		MOVQ(U64(word), g)
		VMOVQ(g, v.AsX())
	} else {
		MOVL(U32(uint32(word)), g.As32())
		VMOVD(g.As32(), v.AsX())
	}
	l.Spread(v)
}

// Spread puts the first word of v in each lane.
func (l Lanes) Spread(v VecVirtual) { Pick(l, VPBROADCASTQ, VPBROADCASTD)(v.AsX(), v) }
