package main

import (
	"maps"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// avx is AVX2 or AVX-512.
type avx struct{ lanes.Lanes }

func (s avx) sumsOfFour() bool { return s.Long }

// avxLoop has the arguments, and registers that hold for all rounds.
type avxLoop struct {
	lanes.Lanes
	at      GPVirtual // offset in bytes in every vector of float64
	ints    GPVirtual // the same in vectors of int32; nil if there are none
	left    GPVirtual // rounds left
	vectors map[string]Register
	sums    map[string][]VecVirtual
}

func (s avx) begin(name, doc string, numbers, vectors, sums []string) (loop, []Op) {
	l := s.Lanes
	l.Func(name+l.Suffix(), signature(numbers, vectors, sums), doc)
	p := &avxLoop{Lanes: l, at: GP64(), vectors: map[string]Register{}, sums: map[string][]VecVirtual{}}
	p.left = Load(Param("n"), GP64()).(GPVirtual)
	for _, v := range vectors {
		p.vectors[v] = Load(Param(v), GP64())
	}
	var numberRegs []Op
	for _, v := range numbers {
		r := l.Reg()
		l.Broadcast(lanes.Arg(v), r)
		numberRegs = append(numberRegs, r)
	}
	for _, v := range sums {
		to := Load(Param(v), GP64())
		for k := range group / l.Count() {
			r := l.Reg()
			l.Load(Mem{Base: to, Disp: k * l.Bytes()}, r)
			p.sums[v] = append(p.sums[v], r)
		}
	}
	XORQ(p.at, p.at)
	if slices.ContainsFunc(vectors, isInts) {
		p.ints = GP64()
		XORQ(p.ints, p.ints)
	}
	return p, numberRegs
}

// signature returns the signature of a kernel with the arguments n, numbers, vectors and sums.
func signature(numbers, vectors, sums []string) string {
	text := "func(n int"
	for _, v := range numbers {
		text += ", " + v + " V"
	}
	for _, v := range vectors {
		if isInts(v) {
			text += ", " + v + " *int32"
		} else {
			text += ", " + v + " *V"
		}
	}
	for _, v := range sums {
		text += ", " + v + " *[8]V"
	}
	return text + ")"
}

// isInts reports whether a vector has int32 elements.
func isInts(vector string) bool { return vector[0] == 'q' }

func (p *avxLoop) rounds(do func(k int)) {
	Label("loop")
	for k := range group / p.Count() {
		do(k)
	}
	ADDQ(Imm(8*group), p.at)
	if p.ints != nil {
		ADDQ(Imm(4*group), p.ints)
	}
	DECQ(p.left)
	JNZ(LabelRef("loop"))
	for _, v := range slices.Sorted(maps.Keys(p.sums)) {
		to := Load(Param(v), GP64())
		for k, r := range p.sums[v] {
			p.Store(r, Mem{Base: to, Disp: k * p.Bytes()})
		}
	}
	VZEROUPPER()
	RET()
}

func (p *avxLoop) mem(vector string, k int) Op {
	if isInts(vector) {
		r := p.Reg()
		VCVTDQ2PD(Mem{Base: p.vectors[vector], Index: p.ints, Scale: 1, Disp: k * p.Bytes() / 2}, r)
		return r
	}
	return Mem{Base: p.vectors[vector], Index: p.at, Scale: 1, Disp: k * p.Bytes()}
}

func (p *avxLoop) get(vector string, k int) Op {
	if isInts(vector) {
		return p.mem(vector, k)
	}
	r := p.Reg()
	p.Load(p.mem(vector, k).(Mem), r)
	return r
}

func (p *avxLoop) store(v Op, vector string, k int) { p.Store(v.(VecVirtual), p.mem(vector, k).(Mem)) }

func (p *avxLoop) times(a, b Op) Op {
	r := p.Reg()
	p.Mul(a, b.(VecVirtual), r)
	return r
}

func (p *avxLoop) multiply(a, b, to Op) { p.Mul(a, b.(VecVirtual), to.(VecVirtual)) }

func (p *avxLoop) add(a, b, to Op) { p.Add(a, b.(VecVirtual), to.(VecVirtual)) }

func (p *avxLoop) subtract(a, b, to Op) { VSUBPD(a, b, to) }

func (p *avxLoop) sum(name string, k int, a, b Op) {
	s := p.sums[name][k]
	p.Add(p.times(a, b), s, s)
}

func (s avx) many(name, doc string, factors, vectors []string, sums bool, do func(p loop, k int, f []Op)) {
	l := s.Lanes
	l.Func(name+l.Suffix(), signatureMany(factors, vectors, sums), doc)
	p := &avxLoop{Lanes: l, at: GP64(), left: GP64(), vectors: map[string]Register{}, sums: map[string][]VecVirtual{}}
	stride, first := Load(Param("parts"), GP64()), GP64()
	SHLQ(Imm(3), stride)
	base := map[string]Register{}
	for _, v := range factors {
		base[v] = Load(Param(v), GP64())
	}
	for _, v := range vectors {
		p.vectors[v] = Load(Param(v), GP64())
	}
	if sums {
		base["sums"] = Load(Param("sums"), GP64())
	}
	place := func(v string, k int) Mem {
		return Mem{Base: base[v], Index: first, Scale: 1, Disp: k * l.Bytes()}
	}
	XORQ(first, first)

	Label("strip")
	count := strip / l.Count()
	with := make([][]Op, count)
	for k := range count {
		for _, v := range factors {
			r := l.Reg()
			l.Load(place(v, k), r)
			with[k] = append(with[k], r)
		}
		if sums {
			r := l.Reg()
			l.Load(place("sums", k), r)
			p.sums["sums"] = append(p.sums["sums"], r)
		}
	}
	Load(Param("n"), p.left)
	MOVQ(first, p.at)
	Label("loop")
	for k := range count {
		do(p, k, with[k])
	}
	ADDQ(stride, p.at)
	DECQ(p.left)
	JNZ(LabelRef("loop"))
	for k, r := range p.sums["sums"] {
		l.Store(r, place("sums", k))
	}
	ADDQ(U32(8*strip), first)
	CMPQ(first, stride)
	JNE(LabelRef("strip"))
	VZEROUPPER()
	RET()
}

// signatureMany returns the signature of a kernel with the arguments n, parts, factors, vectors and sums.
func signatureMany(factors, vectors []string, sums bool) string {
	text := "func(n int, parts int"
	for _, v := range append(append([]string{}, factors...), vectors...) {
		text += ", " + v + " *V"
	}
	if sums {
		text += ", sums *V"
	}
	return text + ")"
}

func (s avx) scaleMany(name string, doc ...string) {
	l := s.Lanes
	l.Func(name+l.Suffix(), "func(n int, m int, d *V, r *V, z *V)", doc...)
	left, row := Load(Param("n"), GP64()), Load(Param("m"), GP64())
	d, r, z := Load(Param("d"), GP64()), Load(Param("r"), GP64()), Load(Param("z"), GP64())
	SHLQ(Imm(3), row)
	at, f, v := GP64(), l.Reg(), l.Reg()
	Label("row")
	l.Broadcast(Mem{Base: d}, f)
	XORQ(at, at)
	Label("loop")
	l.Mul(Mem{Base: r, Index: at, Scale: 1}, f, v)
	l.Store(v, Mem{Base: z, Index: at, Scale: 1})
	ADDQ(Imm(uint64(l.Bytes())), at)
	CMPQ(at, row)
	JLT(LabelRef("loop"))
	ADDQ(Imm(8), d)
	ADDQ(row, r)
	ADDQ(row, z)
	DECQ(left)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
