package lanes

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A word is an integer of the size of an element.

// Define defines n words as data of the file; word returns word i.
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

// defineBoth is Define for both types; the name ends in the bits of a word. There are as many words
// as lanes in an AVX2 register.
func defineBoth(name string, word func(i int) uint64) {
	for _, l := range []Lanes{{Double: true}, {}} {
		l.Define(l.ofType(name), l.Count(), word)
	}
}

// ofType returns the name of data that exists for each type.
func (l Lanes) ofType(name string) string { return fmt.Sprintf("%s%d", name, 8*l.Size()) }

// static returns the address of data of the file.
func static(name string) Mem { return NewDataAddr(Symbol{Name: name, Static: true}, 0) }

// Fill sets each lane of v to a word.
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

// Spread copies the first word of v to each lane.
func (l Lanes) Spread(v VecVirtual) { Pick(l, VPBROADCASTQ, VPBROADCASTD)(v.AsX(), v) }
