// Command stream generates what vectors that do not fit the caches need: stores that
// go past them, and loads that go ahead.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	for _, l := range lanes.All() {
		scale(l)
	}
	fence()
	ahead()
	Generate()
}

// scale generates y = alpha*v for whole registers, with stores past the caches.
func scale(l lanes.Lanes) {
	name := "streamScaled" + l.Suffix()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, alpha %[1]s, v, y *%[1]s)", l.Type()))
	Pragma("noescape")
	Doc(name + " is StreamScaled for n > 0 registers of elements.")
	n := Load(Param("n"), GP64())
	v := Load(Param("v"), GP64())
	y := Load(Param("y"), GP64())
	alpha, t := l.Reg(), l.Reg()
	l.Broadcast(lanes.Arg("alpha"), alpha)
	Label("loop")
	l.Mul(Mem{Base: v}, alpha, t)
	l.Stream(t, Mem{Base: y})
	ADDQ(Imm(uint64(l.Bytes())), v)
	ADDQ(Imm(uint64(l.Bytes())), y)
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func fence() {
	TEXT("fence", NOSPLIT, "func()")
	Doc("fence makes stores past the caches visible before all that follows.")
	SFENCE()
	RET()
}

func ahead() {
	TEXT("loadAhead", NOSPLIT, "func(p *byte, lines int)")
	Pragma("noescape")
	Doc("loadAhead asks for lines of 64 bytes, which need not be memory of the process.")
	p := Load(Param("p"), GP64())
	n := Load(Param("lines"), GP64())
	Label("loop")
	PREFETCHT1(Mem{Base: p})
	ADDQ(Imm(64), p)
	DECQ(n)
	JG(LabelRef("loop"))
	RET()
}
