// Command tiles generates the assembly that multiplies one tile of a matrix.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

func main() {
	double := elem{"F64", "float64", 8, VMOVSD, VFMADD231SD}
	single := elem{"F32", "float32", 4, VMOVSS, VFMADD231SS}
	for _, transposed := range []bool{false, true} {
		tile(double, "Full", transposed)
		tile(double, "Short", transposed)
		tile(double, "Same", transposed)
		tile(single, "Full", transposed)
		tile(single, "Same", transposed)
	}
	Generate()
}

// elem is what differs between float64 and float32.
type elem struct {
	name, typ string
	size      int
	move, fma func(...Op)
}

const (
	unroll = 8 // entries of a round
	line   = 64
)

// tile generates the kernel for values that are stored in one of the ways. That of the
// transposed tile takes rows for columns.
//
// Each entry is a load of x, and a product that is added to an element of acc in
// memory with one rounding: no branch depends on the rows. All loads are of single elements; wider
// registers would gain nothing.
func tile(e elem, storage string, transposed bool) {
	name := "tile" + e.name + storage + "AVX2"
	if transposed {
		name = "tileTransposed" + e.name + storage + "AVX2"
	}
	TEXT(name, NOSPLIT, fmt.Sprintf("func(acc, x *%[1]s, entries *uint32, values *byte, n int, ahead *%[1]s, lines, perRound int)", e.typ))
	Pragma("noescape")
	Doc(name+" adds n entries to acc, and asks for lines of 64 bytes from ahead on:",
		"perRound of them, at least 1, for every 8 entries.")
	acc := Load(Param("acc"), GP64())
	x := Load(Param("x"), GP64())
	entries := Load(Param("entries"), GP64())
	values := Load(Param("values"), GP64())
	left := Load(Param("n"), GP64())
	next := Load(Param("ahead"), GP64())
	end := Load(Param("lines"), GP64())
	perRound := Load(Param("perRound"), GP64())
	SHLQ(Imm(6), end)
	ADDQ(next, end)

	width := e.size
	same := XMM()
	switch storage {
	case "Same":
		width = 0
		e.move(Mem{Base: values}, same)
	case "Short":
		width = 4
	}
	// entry adds entry i behind the pointers.
	entry := func(i int) {
		col, row := GP64(), GP64()
		MOVL(Mem{Base: entries, Disp: 4 * i}, row.As32())
		MOVWLZX(row.As16(), col.As32())
		SHRL(Imm(16), row.As32())
		if transposed {
			col, row = row, col
		}
		value, sum := same, XMM()
		switch storage {
		case "Same":
		case "Short":
			value = XMM()
			VXORPS(value, value, value)
			VCVTSS2SD(Mem{Base: values, Disp: 4 * i}, value, value)
		default:
			value = XMM()
			e.move(Mem{Base: values, Disp: e.size * i}, value)
		}
		to := Mem{Base: acc, Index: row, Scale: uint8(e.size)}
		e.move(to, sum)
		e.fma(Mem{Base: x, Index: col, Scale: uint8(e.size)}, value, sum)
		e.move(sum, to)
	}
	advance := func(n int) {
		ADDQ(Imm(uint64(4*n)), entries)
		if width > 0 {
			ADDQ(Imm(uint64(width*n)), values)
		}
	}

	SUBQ(Imm(unroll), left)
	JL(LabelRef("rest"))
	Label("several")
	CMPQ(next, end)
	JAE(LabelRef("asked"))
	few := GP64()
	MOVQ(perRound, few)
	Label("ask")
	PREFETCHT1(Mem{Base: next})
	ADDQ(Imm(line), next)
	DECQ(few)
	JNZ(LabelRef("ask"))
	Label("asked")
	for i := range unroll {
		entry(i)
	}
	advance(unroll)
	SUBQ(Imm(unroll), left)
	JGE(LabelRef("several"))
	Label("rest")
	ADDQ(Imm(unroll), left)
	JZ(LabelRef("done"))
	Label("one")
	entry(0)
	advance(1)
	DECQ(left)
	JNZ(LabelRef("one"))
	Label("done")
	RET()
}
