package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// outOfRange generates the kernel that searches elements of x out of a range. The bits of absolute
// values, as integers, are in the order of the values.
func outOfRange(l lanes.Lanes) {
	name := "outOfRange" + l.Suffix()
	l.Func(name, "func(n int, x *V, least, greatest V) (lanes uint32)",
		"returns a mask of lanes that is not 0 if one of n registers of x has an element v != 0 with |v| < least, |v| > greatest",
		"or NaN.")
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	least, greatest, magnitude, zero, any := l.Reg(), l.Reg(), l.Reg(), l.Reg(), l.Reg()
	l.Broadcast(lanes.Arg("least"), least)
	l.Broadcast(lanes.Arg("greatest"), greatest)
	subtract := func(a, b, dst VecVirtual) { // dst = a - b
		lanes.Pick(l, VPSUBQ, VPSUBD)(b, a, dst)
	}
	l.Fill(lanes.Pick[uint64](l, 1<<63-1, 1<<31-1), magnitude)
	l.Zero(zero)
	l.Zero(any)
	Label("register")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	u, below, some := l.Reg(), l.Reg(), l.Reg()
	VANDPS(Mem{Base: x}, magnitude, u)
	subtract(u, least, below)
	subtract(zero, u, some)
	VANDPS(some, below, below)
	subtract(greatest, u, u)
	VORPS(u, below, below)
	VORPS(below, any, any)
	ADDQ(Imm(uint64(l.Bytes())), x)
	DECQ(n)
	JMP(LabelRef("register"))
	Label("done")
	out := GP32()
	k := K()
	switch {
	case l.Long && l.Double:
		VPMOVQ2M(any, k)
		KMOVW(k, out)
	case l.Long:
		VPMOVD2M(any, k)
		KMOVW(k, out)
	default:
		lanes.Pick(l, VMOVMSKPD, VMOVMSKPS)(any, out)
	}
	Store(out, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
