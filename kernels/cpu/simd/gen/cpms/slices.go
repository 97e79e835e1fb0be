package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// slices generates the kernel of HeadSlices: a column of 8 places at a time. Lanes
// whose row has ended read x as well, and their product is left out. Near indices
// have 16 bits and count from the start of their slice.
func slices(l lanes.Lanes, v values, w int, near bool, masks func(w int) Mem) {
	i := index{size: 4}
	name := "headSlices"
	if near {
		i.size, name = 2, "nearSlices"
	}
	fn := fmt.Sprintf("%s%sX%d%s", name, v.name, w, l.Suffix()[3:])
	TEXT(fn, NOSPLIT, "func(y *float64, slices int, count *int32, off *int64, idx *byte, start *int32, val *byte, step int, x *byte)")
	Pragma("noescape")
	Doc(fn + " is HeadSlices for the case in its name.")
	y := Load(Param("y"), GP64())
	n := Load(Param("slices"), GP64())
	count := Load(Param("count"), GP64())
	off := Load(Param("off"), GP64())
	i.idx = Load(Param("idx"), GP64())
	var start Register
	if near {
		start = Load(Param("start"), GP64())
	}
	seg := v.begin()
	x := Load(Param("x"), GP64())
	i.x = x
	if near {
		i.x = GP64()
	}
	mask := l.Reg()
	if w < 8 {
		VMOVUPD(masks(w), mask)
	}
	registers := 8 / l.Count()
	acc := make([]VecVirtual, registers)
	more := make([]VecVirtual, registers) // count of each lane, less the columns done
	for r := range acc {
		acc[r], more[r] = l.Reg(), l.Reg()
	}
	one, zero := l.Reg(), l.Reg()
	ones := GP64()
	MOVQ(U32(1), ones)
	VMOVQ(ones, one.AsX())
	VPBROADCASTQ(one.AsX(), one)
	l.Zero(zero)
	left := GP64()
	i.k = GP64()
	k := i.k
	XORQ(k, k)
	var active OpmaskVirtual
	if l.Long {
		active = K()
	}

	Label("slice")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	MOVQ(Mem{Base: off, Disp: 8}, left)
	SUBQ(Mem{Base: off}, left)
	for r := range acc {
		l.Load(Mem{Base: y, Disp: r * l.Bytes()}, acc[r])
		VPMOVSXDQ(Mem{Base: count, Disp: 4 * r * l.Count()}, more[r])
	}
	SHRQ(Imm(3), left)
	JZ(LabelRef("store"))
	if near { // element 0 of the slice
		first := GP64()
		MOVLQSX(Mem{Base: start}, first)
		IMUL3Q(Imm(uint64(w)), first, first)
		LEAQ(Mem{Base: x, Index: first, Scale: 1}, i.x)
	}
	Label("column")
	for r := range acc {
		b := i.gather(l, w, r)
		keep(b, mask, w)
		var value Op
		if v.size > 0 {
			value = v.load(l, seg, k, r*l.Count())
		}
		if l.Long {
			VPCMPGTQ(zero, more[r], active)
			if v.size > 0 {
				VFMADD231PD(value, b, active, acc[r])
			} else {
				VADDPD(b, acc[r], active, acc[r])
			}
		} else {
			in := l.Reg()
			VPCMPGTQ(zero, more[r], in)
			if v.size > 0 {
				product := l.Reg()
				VMULPD(value, b, product)
				VANDPD(in, product, product)
				VADDPD(product, acc[r], acc[r])
			} else {
				VANDPD(in, b, b)
				VADDPD(b, acc[r], acc[r])
			}
		}
		VPSUBQ(one, more[r], more[r])
	}
	PREFETCHT0(Mem{Base: i.idx, Index: k, Scale: uint8(i.size), Disp: ahead})
	v.prefetch(seg, k)
	ADDQ(Imm(8), k)
	DECQ(left)
	JNZ(LabelRef("column"))
	Label("store")
	for r := range acc {
		l.Store(acc[r], Mem{Base: y, Disp: r * l.Bytes()})
	}
	ADDQ(Imm(64), y)
	ADDQ(Imm(32), count)
	ADDQ(Imm(8), off)
	if near {
		ADDQ(Imm(4), start)
	}
	DECQ(n)
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// index is where the elements of x are: element idx[k] behind x.
type index struct {
	idx, k, x Register
	size      int // bytes of an index
}

// gather loads the elements of x for register r of a column.
func (i index) gather(l lanes.Lanes, w, r int) VecVirtual {
	at := func(lane int) Mem {
		g, from := GP64(), Mem{Base: i.idx, Index: i.k, Scale: uint8(i.size), Disp: i.size * (r*l.Count() + lane)}
		if i.size == 4 {
			MOVL(from, g.As32())
		} else {
			MOVWLZX(from, g.As32())
		}
		return head(i.x, g, w)
	}
	four := func(first int) VecVirtual {
		lo, hi := XMM(), XMM()
		VMOVSD(at(first), lo)
		VMOVHPD(at(first+1), lo, lo)
		VMOVSD(at(first+2), hi)
		VMOVHPD(at(first+3), hi, hi)
		v := YMM()
		VINSERTF128(Imm(1), hi, lo.AsY(), v)
		return v
	}
	lo := four(0)
	if !l.Long {
		return lo
	}
	hi, v := four(4), ZMM()
	VINSERTF64X4(Imm(1), hi, lo.AsZ(), v)
	return v
}
