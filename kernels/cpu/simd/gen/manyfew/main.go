// Command manyfew generates the kernels that multiply diagonals by a few vectors at once:
// fewer than fill a register, with rows of x and y that follow each other without gaps.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	for _, l := range lanes.All() {
		// A mask of all elements of the rows of a slice has 64 bits at most.
		for k := 2; l.Long && k < 8 && k*l.Count() <= 64; k++ {
			few(l, k)
		}
	}
	Generate()
}

// aheadBytes is how far ahead values are asked for.
const aheadBytes = 4096

// few generates the kernel for k vectors. The rows of x for a column of a slice are k
// registers; each gets the values of its elements by a permutation.
func few(l lanes.Lanes, k int) {
	name := fmt.Sprintf("few%d%s", k, l.Suffix())
	defineOrder(l, name, k)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n, width int, masks *uint16, val *%[1]s, offsets *int64, x *%[1]s, row int, y *%[1]s, alpha, beta %[1]s, reads, stream bool)", l.Type()))
	Pragma("noescape")
	Doc(name+" multiplies n slices of width columns each: masks is nil where no entry is",
		"missing. y begins with the first row, which is that of the matrix that row says, x with",
		"the first of all. With stream y is written around the",
		"caches.")
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	offsets := Load(Param("offsets"), GP64())
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	alpha, beta := l.Reg(), l.Reg()
	l.Broadcast(lanes.Arg("alpha"), alpha)
	l.Broadcast(lanes.Arg("beta"), beta)
	var order, acc []VecVirtual
	for r := range k {
		order, acc = append(order, l.Reg()), append(acc, l.Reg())
		l.Load(NewDataAddr(Symbol{Name: name + "Order", Static: true}, r*l.Bytes()), order[r])
	}
	width, j, at, mask, every := GP64(), GP64(), GP64(), GP64(), GP64()
	IMUL3Q(U32(k*l.Size()), Load(Param("row"), at), at)
	ADDQ(at, x)
	MOVQ(lanes.Arg("width"), width)
	lane := uint64(0) // the first element of each row
	for i := range l.Count() {
		lane |= 1 << (i * k)
	}
	MOVQ(U64(lane), every)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for _, a := range acc {
		l.Zero(a)
	}
	XORQ(j, j)
	JMP(LabelRef("next"))
	column := func(masked bool) {
		MOVQ(Mem{Base: offsets, Index: j, Scale: 8}, at)
		IMUL3Q(Imm(uint64(k*l.Size())), at, at)
		ADDQ(x, at)
		v := l.Reg()
		l.Load(Mem{Base: val}, v)
		PREFETCHT0(Mem{Base: val, Disp: aheadBytes})
		for r, a := range acc {
			f, m := l.Reg(), Mem{Base: at, Disp: r * l.Bytes()}
			permute(l, order[r], v, f)
			if !masked {
				l.FMA(m, f, a)
				continue
			}
			kr := K()
			KMOVW(mask.As32(), kr)
			if r+1 < k {
				SHRQ(Imm(uint64(l.Count())), mask)
			}
			if l.Double {
				VFMADD231PD(m, f, kr, a)
			} else {
				VFMADD231PS(m, f, kr, a)
			}
		}
		ADDQ(Imm(uint64(l.Bytes())), val)
		INCQ(j)
	}
	Label("column")
	column(false)
	Label("next")
	CMPQ(j, width)
	JGE(LabelRef("finish"))
	TESTQ(masks, masks)
	JZ(LabelRef("column"))
	MOVWLZX(Mem{Base: masks}, mask.As32())
	ADDQ(Imm(2), masks)
	PDEPQ(every, mask, mask)
	IMUL3Q(Imm(1<<k-1), mask, mask) // each bit k times
	column(true)
	JMP(LabelRef("next"))

	Label("finish")
	for _, a := range acc {
		l.Mul(alpha, a, a)
	}
	CMPB(lanes.Arg("reads"), Imm(0))
	JEQ(LabelRef("overwrite"))
	for r, a := range acc {
		l.FMA(Mem{Base: y, Disp: r * l.Bytes()}, beta, a)
	}
	Label("overwrite")
	CMPB(lanes.Arg("stream"), Imm(0))
	JNE(LabelRef("stream"))
	for r, a := range acc {
		l.Store(a, Mem{Base: y, Disp: r * l.Bytes()})
	}
	JMP(LabelRef("end"))
	Label("stream")
	for r, a := range acc {
		l.Stream(a, Mem{Base: y, Disp: r * l.Bytes()})
	}
	Label("end")
	ADDQ(U32(k*l.Bytes()), x)
	ADDQ(U32(k*l.Bytes()), y)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// permute is dst[i] = v[order[i]].
func permute(l lanes.Lanes, order, v, dst VecVirtual) {
	if l.Double {
		VPERMPD(v, order, dst)
	} else {
		VPERMPS(v, order, dst)
	}
}

// defineOrder defines the lane of each element of the rows of a slice.
func defineOrder(l lanes.Lanes, name string, k int) {
	GLOBL(name+"Order", RODATA|NOPTR)
	for i := range k * l.Count() {
		if l.Double {
			DATA(8*i, U64(uint64(i/k)))
		} else {
			DATA(4*i, U32(uint32(i/k)))
		}
	}
}
