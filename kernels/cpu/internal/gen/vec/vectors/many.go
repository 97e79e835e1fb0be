package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// strip is the number of elements of a round of the loops over rows of several vectors: their
// factors and sums stay in registers while the loop moves from row to row.
const strip = 16

// many generates a loop over n rows of parts elements; parts is a multiple of strip. Factors and
// sums have parts elements each; the outer loop is over strips of them. do is called for each
// register of a strip, with its factors.
func many(l lanes.Lanes, name, doc string, factors, vectors []string, sums bool, do func(p *loop, k int, f []VecVirtual)) {
	signature := "func(n, parts int"
	for _, v := range append(append([]string{}, factors...), vectors...) {
		signature += ", " + v + " *V"
	}
	if sums {
		signature += ", sums *V"
	}
	l.Func(name+l.Suffix(), signature+")", doc)
	p := &loop{Lanes: l, at: GP64(), left: GP64(), vectors: map[string]Register{}, sums: map[string][]VecVirtual{}}
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
	with := make([][]VecVirtual, count)
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

func dotMany(l lanes.Lanes) {
	many(l, "dotMany", "computes sums[i%parts] += x[i]*y[i] for i < n*parts. parts is a multiple of 16.", nil, []string{"x", "y"}, true,
		func(p *loop, k int, _ []VecVirtual) { p.sum("sums", k, p.mem("y", k), p.get("x", k)) })
}

func axpyMany(l lanes.Lanes) {
	many(l, "axpyMany", "computes y[i] += a[i%parts]*x[i], then sums[i%parts] += y[i]*y[i], for i < n*parts.",
		[]string{"a"}, []string{"x", "y"}, true, func(p *loop, k int, f []VecVirtual) {
			y := p.addScaled(f[0], k)
			p.sum("sums", k, y, y)
		})
}

func moveMany(l lanes.Lanes) {
	many(l, "updateDirectionMany", "computes x[i] += a[i%parts]*p[i], then p[i] = z[i] + b[i%parts]*p[i], for i < n*parts.",
		[]string{"a", "b"}, []string{"z", "p", "x"}, false,
		func(p *loop, k int, f []VecVirtual) { p.advance(f[0], f[1], p.get("z", k), k) })
}

func scaleMany(l lanes.Lanes) {
	l.Func("scaleMany"+l.Suffix(), "func(n, m int, d, r, z *V)",
		"computes, for n rows of m elements,",
		"",
		"\tfor i := range n * m {",
		"\t\tz[i] = d[i/m] * r[i]",
		"\t}",
		"",
		"register by register: it reads and writes up to the end of the last register of a row.")
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
