// Command vectors generates the loops of solvers over vectors.
package main

import (
	"maps"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	for _, l := range []lanes.Lanes{{Double: true}, {Double: true, Long: true}} {
		dot(l)
		dots(l)
		dotsTwo(l)
		axpy(l)
		axpyFour(l)
		axpyFourTwo(l)
		axpyScaled(l)
		move(l)
		moveScaled(l)
		bicgstabDirection(l)
		bicgstabStep(l)
		dotMany(l)
		axpyMany(l)
		moveMany(l)
		scaleMany(l)
	}
	Generate()
	lanes.GenerateLevels()
}

// group is the number of elements of a round: as many as a sum has lanes.
const group = 8

// loop is a kernel: its arguments, and registers that hold for all rounds.
type loop struct {
	lanes.Lanes
	at      GPVirtual // offset in bytes in every vector
	left    GPVirtual // rounds left
	vectors map[string]Register
	sums    map[string][]VecVirtual
}

// begin begins a kernel with the arguments n, numbers, vectors and sums, in this order.
func begin(l lanes.Lanes, name, doc string, numbers, vectors, sums []string) (*loop, []VecVirtual) {
	signature := "func(n int"
	for _, v := range numbers {
		signature += ", " + v + " V"
	}
	for _, v := range vectors {
		signature += ", " + v + " *V"
	}
	for _, v := range sums {
		signature += ", " + v + " *[8]V"
	}
	l.Func(name+l.Suffix(), signature+")", doc)
	p := &loop{Lanes: l, at: GP64(), vectors: map[string]Register{}, sums: map[string][]VecVirtual{}}
	p.left = Load(Param("n"), GP64()).(GPVirtual)
	for _, v := range vectors {
		p.vectors[v] = Load(Param(v), GP64())
	}
	var numberRegs []VecVirtual
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
	return p, numberRegs
}

// rounds generates the loop; do is called for each register of a group. It stores the sums at the
// end.
func (p *loop) rounds(do func(k int)) {
	Label("loop")
	for k := range group / p.Count() {
		do(k)
	}
	ADDQ(Imm(8*group), p.at)
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

// mem returns the memory of register k of a group of a vector.
func (p *loop) mem(vector string, k int) Mem {
	return Mem{Base: p.vectors[vector], Index: p.at, Scale: 1, Disp: k * p.Bytes()}
}

// get loads register k of a group.
func (p *loop) get(vector string, k int) VecVirtual {
	r := p.Reg()
	p.Load(p.mem(vector, k), r)
	return r
}

// times returns a*b in a new register. a may be memory.
func (p *loop) times(a Op, b VecVirtual) VecVirtual {
	r := p.Reg()
	p.Mul(a, b, r)
	return r
}

// sum adds a*b to a sum. a may be memory.
func (p *loop) sum(name string, k int, a Op, b VecVirtual) {
	s := p.sums[name][k]
	p.Add(p.times(a, b), s, s)
}

func dot(l lanes.Lanes) {
	p, _ := begin(l, "dot", "computes sums[i%8] += x[i]*y[i] for i < 8n.", nil, []string{"x", "y"}, []string{"sums"})
	p.rounds(func(k int) { p.sum("sums", k, p.mem("y", k), p.get("x", k)) })
}

func dots(l lanes.Lanes) {
	p, _ := begin(l, "dots", "computes sums[i%8] += x[i]*y[i] and squares[i%8] += x[i]*x[i] for i < 8n.", nil, []string{"x", "y"}, []string{"sums", "squares"})
	p.rounds(func(k int) {
		x := p.get("x", k)
		p.sum("sums", k, p.mem("y", k), x)
		p.sum("squares", k, x, x)
	})
}

// dotsTwo generates dotTwoTwo (AVX2) or dotFourTwo (AVX-512): as many x as have two sums each in
// registers.
func dotsTwo(l lanes.Lanes) {
	name, x := "dotTwoTwo", []string{"x0", "x1"}
	s, t := []string{"s0", "s1"}, []string{"t0", "t1"}
	if l.Long {
		name, x = "dotFourTwo", append(x, "x2", "x3")
		s, t = append(s, "s2", "s3"), append(t, "t2", "t3")
	}
	p, _ := begin(l, name, "computes sj[i%8] += xj[i]*y[i] and tj[i%8] += xj[i]*z[i] for each j and i < 8n.", nil, append(x, "y", "z"), append(s, t...))
	p.rounds(func(k int) {
		y, z := p.get("y", k), p.get("z", k)
		for j := range s {
			v := p.get(x[j], k)
			p.sum(s[j], k, v, y)
			p.sum(t[j], k, v, z)
		}
	})
}

// addScaled computes y = y + a*x and returns y.
func (p *loop) addScaled(a VecVirtual, k int) VecVirtual {
	y := p.times(p.mem("x", k), a)
	p.Add(p.mem("y", k), y, y)
	p.Store(y, p.mem("y", k))
	return y
}

func axpy(l lanes.Lanes) {
	p, a := begin(l, "axpy", "computes y[i] += a*x[i], then sums[i%8] += y[i]*y[i], for i < 8n.", []string{"a"}, []string{"x", "y"}, []string{"sums"})
	p.rounds(func(k int) {
		y := p.addScaled(a[0], k)
		p.sum("sums", k, y, y)
	})
}

func axpyFour(l lanes.Lanes) {
	x := []string{"x0", "x1", "x2", "x3"}
	p, a := begin(l, "axpyFour", "computes y[i] = (((y[i] + a0*x0[i]) + a1*x1[i]) + a2*x2[i]) + a3*x3[i] for i < 8n.",
		[]string{"a0", "a1", "a2", "a3"}, append(x, "y"), nil)
	p.rounds(func(k int) {
		y := p.get("y", k)
		for j := range x {
			p.Add(p.times(p.mem(x[j], k), a[j]), y, y)
		}
		p.Store(y, p.mem("y", k))
	})
}

func axpyFourTwo(l lanes.Lanes) {
	x := []string{"x0", "x1", "x2", "x3"}
	p, a := begin(l, "axpyFourTwo", "computes axpyFour for y with a and for z with b.",
		[]string{"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"}, append(x, "y", "z"), nil)
	p.rounds(func(k int) {
		y, z := p.get("y", k), p.get("z", k)
		for j := range x {
			v := p.get(x[j], k)
			p.Add(p.times(v, a[j]), y, y)
			p.Add(p.times(v, a[4+j]), z, z)
		}
		p.Store(y, p.mem("y", k))
		p.Store(z, p.mem("z", k))
	})
}

func axpyScaled(l lanes.Lanes) {
	p, a := begin(l, "axpyScaled", "computes y[i] += a*x[i], then sums[i%8] += y[i]*y[i] and scaled[i%8] += y[i]*(d[i]*y[i]), for i < 8n.", []string{"a"}, []string{"x", "y", "d"}, []string{"sums", "scaled"})
	p.rounds(func(k int) {
		y := p.addScaled(a[0], k)
		p.sum("sums", k, y, y)
		p.sum("scaled", k, p.times(p.mem("d", k), y), y)
	})
}

// advance computes x = x + a*p and p = z + b*p.
func (p *loop) advance(a, b, z VecVirtual, k int) {
	old := p.get("p", k)
	x := p.times(old, a)
	p.Add(p.mem("x", k), x, x)
	p.Store(x, p.mem("x", k))
	p.Mul(old, b, old)
	p.Add(z, old, old)
	p.Store(old, p.mem("p", k))
}

func move(l lanes.Lanes) {
	p, ab := begin(l, "updateDirection", "computes x[i] += a*p[i], then p[i] = z[i] + b*p[i], for i < 8n.", []string{"a", "b"}, []string{"z", "p", "x"}, nil)
	p.rounds(func(k int) { p.advance(ab[0], ab[1], p.get("z", k), k) })
}

func moveScaled(l lanes.Lanes) {
	p, ab := begin(l, "updateDirectionScaled", "computes x[i] += a*p[i], then p[i] = d[i]*r[i] + b*p[i], for i < 8n.", []string{"a", "b"}, []string{"d", "r", "p", "x"}, nil)
	p.rounds(func(k int) { p.advance(ab[0], ab[1], p.times(p.mem("d", k), p.get("r", k)), k) })
}

func bicgstabDirection(l lanes.Lanes) {
	p, bw := begin(l, "bicgstabDirection", "computes p[i] = r[i] + b*(p[i] - w*v[i]) for i < 8n.", []string{"b", "w"}, []string{"r", "v", "p"}, nil)
	p.rounds(func(k int) {
		v := p.times(p.mem("v", k), bw[1])
		t := p.get("p", k)
		VSUBPD(v, t, t)
		p.Mul(t, bw[0], t)
		p.Add(p.mem("r", k), t, t)
		p.Store(t, p.mem("p", k))
	})
}

func bicgstabStep(l lanes.Lanes) {
	p, aw := begin(l, "bicgstabStep", "computes x[i] += a*p[i] + w*s[i] and r[i] -= w*t[i], then sums[i%8] += r[i]*r[i] and shadows[i%8] += c[i]*r[i],\nfor i < 8n. s may be r.",
		[]string{"a", "w"}, []string{"p", "s", "x", "t", "r", "c"}, []string{"sums", "shadows"})
	p.rounds(func(k int) {
		x := p.times(p.mem("p", k), aw[0])
		p.Add(p.times(p.mem("s", k), aw[1]), x, x)
		p.Add(p.mem("x", k), x, x)
		p.Store(x, p.mem("x", k))
		t := p.times(p.mem("t", k), aw[1])
		r := p.get("r", k)
		VSUBPD(t, r, r)
		p.Store(r, p.mem("r", k))
		p.sum("sums", k, r, r)
		p.sum("shadows", k, p.mem("c", k), r)
	})
}
