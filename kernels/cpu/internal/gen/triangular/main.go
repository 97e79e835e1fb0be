// Command triangular generates the kernels of triangular solves.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	for _, l := range lanes.All() {
		bare(l)
	}
	for _, double := range []bool{true, false} {
		single(lanes.Lanes{Double: double}, false)
		single(lanes.Lanes{Double: double}, true)
		runs(lanes.Lanes{Double: double})
		if double { // a run of 8 float32 needs no more than 256 bits
			runs(lanes.Lanes{Double: double, Long: true})
		}
		for _, upper := range []bool{false, true} {
			blocks(lanes.Lanes{Double: double, Long: double, Masked: !double}, upper)
		}
	}
	lanes.WriteFiles()
}

// ahead is the number of bytes by which values are prefetched.
const ahead = 2048

// solver has the registers of a kernel. They point to the next elements, and rows is the number of rows or groups left.
type solver struct {
	lanes.Lanes
	rows, scale, count, idx, val, b, x, step, all Register
	alpha                                         VecVirtual
}

// begin loads the arguments. mask is the register of the masks if the kernel has masks.
func begin(l lanes.Lanes, alpha VecVirtual) (s *solver, mask Register) {
	a := lanes.Args("rows", "scale", "count", "mask", "idx", "val", "b", "x", "step", "all", "alpha")
	s = &solver{Lanes: l, alpha: alpha}
	s.rows, s.scale, s.count, mask = a.Load("rows"), a.Load("scale"), a.Load("count"), a.Load("mask")
	s.idx, s.val, s.b, s.x, s.step, s.all = a.Load("idx"), a.Load("val"), a.Load("b"), a.Load("x"), a.Load("step"), a.Load("all")
	if alpha.Size() == 16 {
		l.MoveOne(a.Mem("alpha"), alpha)
	} else {
		l.Broadcast(a.Mem("alpha"), alpha)
	}
	return s, mask
}

// element returns the element of x for the index i after the next one.
func (s *solver) element(i int) Mem {
	g := GP64()
	MOVLQSX(Mem{Base: s.idx, Disp: 4 * i}, g)
	return Mem{Base: s.all, Index: g, Scale: uint8(s.Size())}
}

// entry adds entry i after the next one to sum.
func (s *solver) entry(i int, sum VecVirtual) {
	v := XMM()
	s.MoveOne(s.element(i), v)
	s.FMAOne(Mem{Base: s.val, Disp: i * s.Size()}, v, sum)
}

// pass advances past entries and values.
func (s *solver) pass(entries, values int) {
	ADDQ(I32(int32(4*entries)), s.idx)
	ADDQ(I32(int32(values*s.Size())), s.val)
}

// start sets sum = alpha*scale*b of the next row.
func (s *solver) start(sum VecVirtual) {
	s.MoveOne(Mem{Base: s.scale}, sum)
	s.MulOne(s.alpha, sum, sum)
	s.MulOne(Mem{Base: s.b}, sum, sum)
}

// store stores the next row, and goes to the one after it.
func (s *solver) store(sum VecVirtual) {
	s.MoveOne(sum, Mem{Base: s.x})
	ADDQ(Imm(uint64(s.Size())), s.scale)
	ADDQ(s.step, s.b)
	ADDQ(s.step, s.x)
	DECQ(s.rows)
}

// entries adds n single entries to sum: four at a time to four sums while there are 8, then one by one, so that the
// last ones, whose elements of x are the newest, are not delayed by the addition of the four.
func (s *solver) entries(n GPVirtual, sum VecVirtual) {
	CMPL(n, I8(8))
	JL(LabelRef("few"))
	sums := []VecVirtual{sum, XMM(), XMM(), XMM()}
	for _, v := range sums[1:] {
		s.Zero(v)
	}
	Label("four")
	for i, v := range sums {
		s.entry(i, v)
	}
	s.pass(4, 4)
	SUBL(Imm(4), n)
	CMPL(n, I8(8))
	JGE(LabelRef("four"))
	s.AddOne(sums[2], sums[1], sums[1])
	s.AddOne(sums[3], sums[1], sums[1])
	s.AddOne(sums[1], sum, sum)
	Label("few")
	TESTL(n, n)
	JZ(LabelRef("done"))
	Label("one")
	s.entry(0, sum)
	s.pass(1, 1)
	DECL(n)
	JNZ(LabelRef("one"))
	Label("done")
}

// bare generates the kernel for rows without entries: a register at a time, then one by one.
func bare(l lanes.Lanes) {
	l.Func("bare"+l.Suffix(), "func(a *args[V])", "computes rows without entries; see args.")
	s, _ := begin(l, l.Reg())
	v := l.Reg()
	SUBQ(Imm(uint64(l.Count())), s.rows)
	JL(LabelRef("rest"))
	Label("register")
	l.Mul(Mem{Base: s.scale}, s.alpha, v)
	l.Mul(Mem{Base: s.b}, v, v)
	l.Store(v, Mem{Base: s.x})
	for _, at := range []Register{s.scale, s.b, s.x} {
		ADDQ(Imm(uint64(l.Bytes())), at)
	}
	SUBQ(Imm(uint64(l.Count())), s.rows)
	JGE(LabelRef("register"))
	Label("rest")
	ADDQ(Imm(uint64(l.Count())), s.rows)
	JZ(LabelRef("end"))
	one := v.AsX().(VecVirtual)
	Label("row")
	l.MoveOne(Mem{Base: s.scale}, one)
	l.MulOne(s.alpha.AsX(), one, one)
	l.MulOne(Mem{Base: s.b}, one, one)
	l.MoveOne(one, Mem{Base: s.x})
	for _, at := range []Register{s.scale, s.b, s.x} {
		ADDQ(Imm(uint64(l.Size())), at)
	}
	DECQ(s.rows)
	JNZ(LabelRef("row"))
	Label("end")
	VZEROUPPER()
	RET()
}

// single generates the kernel for rows of single entries, or for listed rows.
func single(l lanes.Lanes, listed bool) {
	name := "single"
	if listed {
		name = "listed"
	}
	l.Func(name+l.Suffix(), "func(a *args[V])", "computes rows of single entries, or listed rows; see args and singleLoop.")
	s, _ := begin(l, XMM())
	TESTQ(s.rows, s.rows)
	JZ(LabelRef("end"))
	b, x := s.b, s.x
	Label("row")
	n, sum := GP32(), XMM()
	MOVL(Mem{Base: s.count}, n)
	ADDQ(Imm(4), s.count)
	if listed {
		row := GP64()
		MOVLQSX(Mem{Base: s.idx}, row)
		ADDQ(Imm(4), s.idx)
		at, to := GP64(), GP64()
		LEAQ(Mem{Base: b, Index: row, Scale: uint8(l.Size())}, at)
		LEAQ(Mem{Base: x, Index: row, Scale: uint8(l.Size())}, to)
		s.b, s.x = at, to
	}
	s.start(sum)
	s.entries(n, sum)
	if listed {
		s.MoveOne(sum, Mem{Base: s.x})
		ADDQ(Imm(uint64(s.Size())), s.scale)
		DECQ(s.rows)
	} else {
		s.store(sum)
	}
	JNZ(LabelRef("row"))
	Label("end")
	VZEROUPPER()
	RET()
}

// part is the elements lo to hi of a run, in a register.
type part struct {
	lanes.Lanes
	first int
}

// parts returns how registers hold the n elements of a run.
func parts(l lanes.Lanes, n int) (all []part) {
	for l.Count() > n {
		if l.Long {
			l.Long = false
		} else {
			l.Half = true
		}
	}
	for i := 0; i < n; i += l.Count() {
		all = append(all, part{l, i})
	}
	return all
}

// run adds run i after the next one to the registers of sums.
func (s *solver) run(i, n int, sums []VecVirtual) {
	from := s.element(i)
	for j, p := range parts(s.Lanes, n) {
		v, at := p.Reg(), from
		at.Disp += p.first * s.Size()
		p.Load(at, v)
		p.FMA(Mem{Base: s.val, Disp: (i*n + p.first) * s.Size()}, v, p.as(sums[j]))
	}
}

// as returns the register with the width of the part.
func (p part) as(v VecVirtual) VecVirtual {
	switch {
	case p.Long:
		return v.AsZ().(VecVirtual)
	case p.Half:
		return v.AsX().(VecVirtual)
	}
	return v.AsY().(VecVirtual)
}

// runs generates the kernel for rows of runs: first the runs of 8, alternately to two sets of sums, then those of 4, then
// single entries.
func runs(l lanes.Lanes) {
	l.Func("runs"+l.Suffix(), "func(a *args[V])", "computes rows of runs; see args and runsLoop.")
	s, _ := begin(l, XMM())
	TESTQ(s.rows, s.rows)
	JZ(LabelRef("end"))
	Label("row")
	long, short, alone, sum := GP32(), GP32(), GP32(), XMM()
	MOVL(Mem{Base: s.count}, long)
	MOVL(Mem{Base: s.count, Disp: 4}, short)
	MOVL(Mem{Base: s.count, Disp: 8}, alone)
	ADDQ(Imm(12), s.count)
	s.start(sum)
	t := GP32()
	MOVL(long, t)
	ORL(short, t)
	JZ(LabelRef("alone"))
	var even, odd []VecVirtual
	for _, p := range parts(l, 8) {
		even, odd = append(even, p.Reg()), append(odd, p.Reg())
	}
	for i := range even {
		s.Zero(even[i])
		s.Zero(odd[i])
	}
	SUBL(Imm(2), long)
	JL(LabelRef("last"))
	Label("two")
	s.run(0, 8, even)
	s.run(1, 8, odd)
	PREFETCHT0(Mem{Base: s.val, Disp: ahead})
	if l.Double {
		PREFETCHT0(Mem{Base: s.val, Disp: ahead + 64})
	}
	s.pass(2, 16)
	SUBL(Imm(2), long)
	JGE(LabelRef("two"))
	Label("last")
	CMPL(long, I8(-1))
	JNE(LabelRef("joined"))
	s.run(0, 8, even)
	s.pass(1, 8)
	Label("joined")
	for i, p := range parts(l, 8) {
		p.Add(odd[i], even[i], even[i])
	}
	// Runs of 4 go to the first 4 elements of the sums, once there are only 4.
	four := parts(l, 4)[0]
	total := s.fold(even)
	TESTL(short, short)
	JZ(LabelRef("folded"))
	Label("short")
	s.run(0, 4, []VecVirtual{total})
	s.pass(1, 4)
	DECL(short)
	JNZ(LabelRef("short"))
	Label("folded")
	s.total(four, total)
	s.AddOne(total.AsX(), sum, sum)
	Label("alone")
	s.entries(alone, sum)
	s.store(sum)
	JNZ(LabelRef("row"))
	Label("end")
	VZEROUPPER()
	RET()
}

// fold adds the upper four of 8 sums to the lower four, and returns these.
func (s *solver) fold(sums []VecVirtual) VecVirtual {
	if len(sums) == 2 { // two registers of 4
		parts(s.Lanes, 4)[0].Add(sums[1], sums[0], sums[0])
		return sums[0]
	}
	v := sums[0]
	p := parts(s.Lanes, 4)[0]
	high := p.Reg()
	if s.Double {
		VEXTRACTF64X4(Imm(1), v.AsZ(), high)
	} else {
		VEXTRACTF128(Imm(1), v.AsY(), high)
	}
	p.Add(high, p.as(v), p.as(v))
	return p.as(v)
}

// total adds four sums in the lowest element.
func (s *solver) total(p part, v VecVirtual) {
	high := XMM()
	if s.Double { // 4 in 256 bits
		VEXTRACTF128(Imm(1), v.AsY(), high)
		VADDPD(high, v.AsX(), v.AsX())
		VUNPCKHPD(v.AsX(), v.AsX(), high)
		VADDSD(high, v.AsX(), v.AsX())
		return
	}
	VMOVHLPS(v.AsX(), v.AsX(), high)
	VADDPS(high, v.AsX(), v.AsX())
	VMOVSHDUP(v.AsX(), high)
	VADDSS(high, v.AsX(), v.AsX())
}

// blocks generates the kernel for groups of 8 rows, one per lane.
func blocks(l lanes.Lanes, upper bool) {
	name := "lowerBlocks" + l.TypeName() + "AVX512"
	if upper {
		name = "upperBlocks" + l.TypeName() + "AVX512"
	}
	l.Func(name, "func(a *args[V])", "computes groups of 8 rows of a lower or an upper triangle; see args and blocksLoop.")
	alpha := l.Reg()
	s, mask := begin(l, alpha)
	// Lane numbers, to copy one lane to all.
	var lane [8]VecVirtual
	g := GP64()
	for j := range lane {
		lane[j] = l.Reg()
		MOVQ(U32(uint32(j)), g)
		lanes.Pick(l, VPBROADCASTQ, VPBROADCASTD)(pick(l, g), lane[j])
	}
	TESTQ(s.rows, s.rows)
	JZ(LabelRef("end"))
	Label("group")
	sums := []VecVirtual{l.Reg(), l.Reg(), l.Reg(), l.Reg()}
	sum := sums[0]
	s.Load(Mem{Base: s.scale}, sum)
	s.Mul(alpha, sum, sum)
	s.Mul(Mem{Base: s.b}, sum, sum)
	for _, v := range sums[1:] {
		s.Zero(v)
	}
	// Columns that all rows have.
	n := GP32()
	MOVL(Mem{Base: s.count}, n)
	column := func(i int, sum VecVirtual) {
		v := l.Reg()
		s.Broadcast(s.element(i), v)
		s.FMA(Mem{Base: s.val, Disp: i * 8 * s.Size()}, v, sum)
	}
	SUBL(Imm(4), n)
	JL(LabelRef("rest"))
	Label("four")
	for i, v := range sums {
		column(i, v)
	}
	for at := 0; at < 4*8*s.Size(); at += 64 {
		PREFETCHT0(Mem{Base: s.val, Disp: ahead + at})
	}
	s.pass(4, 32)
	SUBL(Imm(4), n)
	JGE(LabelRef("four"))
	Label("rest")
	ADDL(Imm(4), n)
	JZ(LabelRef("full"))
	Label("one")
	column(0, sums[1])
	s.pass(1, 8)
	DECL(n)
	JNZ(LabelRef("one"))
	Label("full")
	s.Add(sums[3], sums[2], sums[2])
	// The group's own columns come later.
	own, ownMask := GP64(), GP64()
	MOVQ(s.val, own)
	MOVQ(mask, ownMask)
	ADDQ(I32(int32(64*s.Size())), s.val)
	ADDQ(Imm(8), mask)
	// Columns that some rows have.
	MOVL(Mem{Base: s.count, Disp: 4}, n)
	partial := func(sum VecVirtual, i int) {
		v, u, m, k := l.Reg(), l.Reg(), GP64(), K()
		MOVBLZX(Mem{Base: mask, Disp: i}, m.As32())
		KMOVW(m.As32(), k)
		lanes.Pick(l, VEXPANDPD_Z, VEXPANDPS_Z)(Mem{Base: s.val}, k, v)
		POPCNTL(m.As32(), m.As32())
		s.Broadcast(s.element(i), u)
		s.FMAMasked(v, u, k, sum)
		LEAQ(Mem{Base: s.val, Index: m, Scale: uint8(s.Size())}, s.val)
	}
	SUBL(Imm(2), n)
	JL(LabelRef("lastPart"))
	Label("part")
	partial(sums[0], 0)
	partial(sums[1], 1)
	ADDQ(Imm(2), mask)
	ADDQ(Imm(8), s.idx)
	SUBL(Imm(2), n)
	JGE(LabelRef("part"))
	Label("lastPart")
	CMPL(n, I8(-1))
	JNE(LabelRef("own"))
	partial(sums[0], 0)
	INCQ(mask)
	ADDQ(Imm(4), s.idx)
	Label("own")
	// Values continue at a multiple of 8 elements. The arrays of the store begin at a multiple of 64 bytes.
	ADDQ(I32(int32(8*s.Size()-1)), s.val)
	ANDQ(I32(int32(-8*s.Size())), s.val)
	s.Add(sums[2], sums[1], sums[1])
	s.Add(sums[1], sum, sum)
	for i := range 7 {
		j := i
		if upper {
			j = 7 - i
		}
		v, k := l.Reg(), K()
		KMOVB(Mem{Base: ownMask, Disp: j}, k)
		lanes.Pick(l, VPERMPD, VPERMPS)(sum, lane[j], v)
		s.FMAMasked(Mem{Base: own, Disp: j * 8 * s.Size()}, v, k, sum)
	}
	s.Store(sum, Mem{Base: s.x})
	ADDQ(Imm(uint64(8*s.Size())), s.scale)
	ADDQ(Imm(8), s.count)
	ADDQ(s.step, s.b)
	ADDQ(s.step, s.x)
	DECQ(s.rows)
	JNZ(LabelRef("group"))
	Label("end")
	VZEROUPPER()
	RET()
}

// pick returns the part of a register that has an element.
func pick(l lanes.Lanes, g GPVirtual) Register {
	if l.Double {
		return g
	}
	return g.As32()
}
