package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// slices generates the kernel of HeadSlices: a column of 8 slots at a time. Lanes that have no
// entry left read x as well; their products are masked out. Near indices have 16 bits, relative to
// the start of their slice.
func slices(l lanes.Lanes, v values, w int, near bool, masks func(w int) Mem) {
	name := "headSlices"
	if near {
		name = "nearSlices"
	}
	fn := fmt.Sprintf("%s%sX%d%s", name, v.name, w, l.Suffix()[3:])
	lanes.FuncOf(fn, "headSliceArgs", "y *float64, slices int, count *int32, off *int64, idx *byte, start *int32, val *byte, step int, x *byte",
		"is for the values (Ones, Plain or segments), the width of x and the level in its name; see headSliceArgs.")
	s := begin(l, v, w, near, masks)

	Label("slice")
	TESTQ(s.n, s.n)
	JZ(LabelRef("done"))
	s.open()
	Label("column")
	for r := range s.acc {
		s.add(r)
	}
	PREFETCHT0(Mem{Base: s.idx, Index: s.k, Scale: uint8(s.size), Disp: ahead})
	v.prefetch(s.seg, s.k)
	ADDQ(Imm(8), s.k)
	DECQ(s.left)
	JNZ(LabelRef("column"))
	Label("store")
	for r := range s.acc {
		l.Store(s.acc[r], Mem{Base: s.y, Disp: r * l.Bytes()})
	}
	ADDQ(Imm(64), s.y)
	ADDQ(Imm(32), s.count)
	ADDQ(Imm(8), s.off)
	if near {
		ADDQ(Imm(4), s.start)
	}
	DECQ(s.n)
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// slicer has the registers of a kernel of HeadSlices.
type slicer struct {
	index
	l                lanes.Lanes
	v                values
	w                int // bytes of an element of x
	near             bool
	y, n, count, off Register
	start            Register // of near indices
	allX             Register // address of element 0 of x
	seg              []Register
	left             GPVirtual
	mask, one, zero  VecVirtual
	acc              []VecVirtual
	more             []VecVirtual  // count of each lane minus the columns done
	active           OpmaskVirtual // for 512 bits
}

// begin loads the arguments.
func begin(l lanes.Lanes, v values, w int, near bool, masks func(w int) Mem) *slicer {
	s := &slicer{l: l, v: v, w: w, near: near, index: index{size: 4}}
	s.y = Load(Param("y"), GP64())
	s.n = Load(Param("slices"), GP64())
	s.count = Load(Param("count"), GP64())
	s.off = Load(Param("off"), GP64())
	s.idx = Load(Param("idx"), GP64())
	if near {
		s.size = 2
		s.start = Load(Param("start"), GP64())
	}
	s.seg = v.begin()
	s.allX = Load(Param("x"), GP64())
	s.x = s.allX
	if near {
		s.x = GP64()
	}
	s.mask = l.Reg()
	if w < 8 {
		VMOVUPD(masks(w), s.mask)
	}
	registers := 8 / l.Count()
	s.acc, s.more = make([]VecVirtual, registers), make([]VecVirtual, registers)
	for r := range registers {
		s.acc[r], s.more[r] = l.Reg(), l.Reg()
	}
	s.one, s.zero = l.Reg(), l.Reg()
	ones := GP64()
	MOVQ(U32(1), ones)
	VMOVQ(ones, s.one.AsX())
	VPBROADCASTQ(s.one.AsX(), s.one)
	l.Zero(s.zero)
	s.left, s.k = GP64(), GP64()
	XORQ(s.k, s.k)
	if l.Long {
		s.active = K()
	}
	return s
}

// open starts a slice, and jumps to label store if it has no columns.
func (s *slicer) open() {
	MOVQ(Mem{Base: s.off, Disp: 8}, s.left)
	SUBQ(Mem{Base: s.off}, s.left)
	for r := range s.acc {
		s.l.Load(Mem{Base: s.y, Disp: r * s.l.Bytes()}, s.acc[r])
		VPMOVSXDQ(Mem{Base: s.count, Disp: 4 * r * s.l.Count()}, s.more[r])
	}
	SHRQ(Imm(3), s.left)
	JZ(LabelRef("store"))
	if s.near { // address of element start of x
		first := GP64()
		MOVLQSX(Mem{Base: s.start}, first)
		IMUL3Q(Imm(uint64(s.w)), first, first)
		LEAQ(Mem{Base: s.allX, Index: first, Scale: 1}, s.x)
	}
}

// add adds the products of register r of a column, in the lanes that have an entry.
func (s *slicer) add(r int) {
	b := s.gather(s.l, s.w, r)
	keep(b, s.mask, s.w)
	var value Op
	if s.v.size > 0 {
		value = s.v.load(s.l, s.seg, s.k, r*s.l.Count())
	}
	if s.l.Long {
		VPCMPGTQ(s.zero, s.more[r], s.active)
		if s.v.size > 0 {
			VFMADD231PD(value, b, s.active, s.acc[r])
		} else {
			VADDPD(b, s.acc[r], s.active, s.acc[r])
		}
	} else {
		in, product := s.l.Reg(), b
		VPCMPGTQ(s.zero, s.more[r], in)
		if s.v.size > 0 {
			product = s.l.Reg()
			VMULPD(value, b, product)
		}
		VANDPD(in, product, product)
		VADDPD(product, s.acc[r], s.acc[r])
	}
	VPSUBQ(s.one, s.more[r], s.more[r])
}

// index is the addresses of elements of x: element idx[k] from x on.
type index struct {
	idx, k, x Register
	size      int // bytes of an index
}

// gather loads the elements of x of register r of a column.
func (i index) gather(l lanes.Lanes, w, r int) VecVirtual {
	return l.GatherFrom(func(lane int) Mem {
		g, from := GP64(), Mem{Base: i.idx, Index: i.k, Scale: uint8(i.size), Disp: i.size * (r*l.Count() + lane)}
		lanes.LoadIndex(i.size, from, g)
		return head(i.x, g, w)
	})
}
