// Command bins generates the assembly of both passes over bins of entries.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	for _, storage := range []string{"Full", "Short", "Same"} {
		products(double, storage)
	}
	products(single, "Full")
	products(single, "Same")
	add(double)
	add(single)
	Generate()
}

// elem is what differs between float64 and float32.
type elem struct {
	name, typ      string
	size           int
	move, add      func(...Op)
	broadcast, mul func(...Op)
	stream         func(v, to Op)
}

var (
	double = elem{"F64", "float64", 8, VMOVSD, VADDSD, VBROADCASTSD, VMULPD, VMOVNTPD}
	single = elem{"F32", "float32", 4, VMOVSS, VADDSS, VBROADCASTSS, VMULPS, VMOVNTPS}
)

const (
	line     = 64
	register = 32
	// ahead is how many lines of products before their turn the streams are asked for: the
	// processor's own asking stops at pages.
	ahead = 32
)

// gather fills a register with elements of x, by single loads: these are faster than
// the instructions that gather. The columns are at an address and behind it.
func gather(e elem, x Register, columns Mem) VecVirtual {
	var halves [2]VecVirtual
	for h := range halves {
		half := XMM()
		for i := range 16 / e.size {
			c := GP64()
			MOVWLZX(columns.Offset(2*(h*16/e.size+i)), c.As32())
			from := Mem{Base: x, Index: c, Scale: uint8(e.size)}
			switch {
			case i == 0:
				e.move(from, half)
			case e.size == 8:
				VMOVHPD(from, half, half)
			default:
				VINSERTPS(Imm(uint64(i<<4)), from, half, half)
			}
		}
		halves[h] = half
	}
	all := YMM()
	VINSERTF128(Imm(1), halves[1], halves[0].AsY(), all)
	return all
}

// producer is the registers of a kernel of the first pass.
type producer struct {
	elem
	storage            string // of values
	width              int    // bytes of a value; 0 where it is the same for all
	x, columns, values Register
	next, end          Register // the lines to ask for
	same               VecVirtual
}

// products generates the first pass for values that are stored in one of the ways.
func products(e elem, storage string) {
	name := "binProducts" + e.name + storage + "AVX2"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(to, x *%[1]s, columns *uint16, values *byte, runs *uint32, n int, next *%[1]s, lines int)", e.typ))
	Pragma("noescape")
	Doc(name+" writes the products of n runs past the caches, and asks for so many lines of",
		"64 bytes from next on, one for each line of products.")
	p := producer{elem: e, storage: storage, width: e.size}
	to := Load(Param("to"), GP64())
	p.x = Load(Param("x"), GP64())
	p.columns = Load(Param("columns"), GP64())
	p.values = Load(Param("values"), GP64())
	runs := Load(Param("runs"), GP64())
	n := Load(Param("n"), GP64())
	p.next = Load(Param("next"), GP64())
	p.end = Load(Param("lines"), GP64())
	SHLQ(Imm(6), p.end)
	ADDQ(p.next, p.end)
	p.same = YMM()
	switch storage {
	case "Same":
		p.width = 0
		e.broadcast(Mem{Base: p.values}, p.same)
	case "Short":
		p.width = 4
	}
	at, left := GP64(), GP64()

	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("run")
	MOVL(Mem{Base: runs}, at.As32())
	MOVL(Mem{Base: runs, Disp: 4}, left.As32())
	ADDQ(Imm(8), runs)
	SHLQ(Imm(6), at)
	ADDQ(to, at)
	perLine := line / e.size
	ADDQ(Imm(uint64(perLine-1)), left)
	SHRQ(Imm(map[int]uint64{8: 3, 16: 4}[perLine]), left)
	JZ(LabelRef("ran"))
	Label("line")
	p.line(at)
	ADDQ(Imm(line), at)
	DECQ(left)
	JNZ(LabelRef("line"))
	Label("ran")
	DECQ(n)
	JNZ(LabelRef("run"))
	Label("done")
	VZEROUPPER()
	RET()
}

// line writes a line of products to an address, and asks for one.
func (p producer) line(at Register) {
	perLine, perRegister := line/p.size, register/p.size
	CMPQ(p.next, p.end)
	JAE(LabelRef("asked"))
	PREFETCHT1(Mem{Base: p.next})
	ADDQ(Imm(line), p.next)
	Label("asked")
	PREFETCHT0(Mem{Base: p.columns, Disp: 2 * perLine * ahead})
	if p.width > 0 {
		PREFETCHT0(Mem{Base: p.values, Disp: p.width * perLine * ahead})
	}
	for r := range line / register {
		v := gather(p.elem, p.x, Mem{Base: p.columns, Disp: 2 * perRegister * r})
		from := Mem{Base: p.values, Disp: p.width * perRegister * r}
		switch p.storage {
		case "Same":
			p.mul(p.same, v, v)
		case "Short":
			wide := YMM()
			VCVTPS2PD(from, wide)
			p.mul(wide, v, v)
		default:
			p.mul(from, v, v)
		}
		p.stream(v, Mem{Base: at, Disp: register * r})
	}
	ADDQ(Imm(uint64(2*perLine)), p.columns)
	if p.width > 0 {
		ADDQ(Imm(uint64(p.width*perLine)), p.values)
	}
}

// add generates the second pass.
func add(e elem) {
	name := "addBin" + e.name + "AVX2"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(sums, products *%s, rows *uint16, lines int)", e.typ))
	Pragma("noescape")
	Doc(name + " adds so many lines of products, at least 1, to the sums of their rows.")
	sums := Load(Param("sums"), GP64())
	products := Load(Param("products"), GP64())
	rows := Load(Param("rows"), GP64())
	left := Load(Param("lines"), GP64())
	perLine := line / e.size
	Label("line")
	PREFETCHT0(Mem{Base: products, Disp: line * ahead})
	PREFETCHT0(Mem{Base: rows, Disp: 2 * perLine * ahead})
	for i := range perLine {
		row, sum := GP64(), XMM()
		MOVWLZX(Mem{Base: rows, Disp: 2 * i}, row.As32())
		to := Mem{Base: sums, Index: row, Scale: uint8(e.size)}
		e.move(to, sum)
		e.add(Mem{Base: products, Disp: e.size * i}, sum, sum)
		e.move(sum, to)
	}
	ADDQ(Imm(line), products)
	ADDQ(Imm(uint64(2*perLine)), rows)
	DECQ(left)
	JNZ(LabelRef("line"))
	RET()
}
