// Command vectors generates the loops of solvers over vectors. Each loop is described once, with operations of
// an instruction set; see loop.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

func main() {
	for _, s := range []set{avx{lanes.Lanes{Double: true}}, avx{lanes.Lanes{Double: true, Long: true}}, neonSet{neon.Lanes{Double: true}}} {
		dot(s)
		dots(s)
		dotsTwo(s, false)
		dotsTwo(s, true)
		axpy(s)
		axpyFour(s, false)
		axpyFour(s, true)
		axpyFourTwo(s)
		axpyScaled(s)
		move(s)
		moveScaled(s)
		bicgstabDirection(s)
		bicgstabStep(s)
		dotMany(s)
		axpyMany(s)
		moveMany(s)
		s.scaleMany("scaleMany",
			"computes, for n rows of m elements,",
			"",
			"\tfor i := range n * m {",
			"\t\tz[i] = d[i/m] * r[i]",
			"\t}",
			"",
			"register by register: it reads and writes up to the end of the last register of a row.")
	}
	Generate()
	lanes.GenerateLevels()
	neon.WriteFiles()
}

// group is the number of elements of a round: as many as a sum has lanes.
const group = 8

// set is an instruction set.
type set interface {
	// begin begins a kernel with the arguments n, numbers, vectors and sums, in this order. The vectors whose names
	// begin with q have int32 elements; loads convert these to float64.
	begin(name, doc string, numbers, vectors, sums []string) (p loop, numberRegs []Op)
	// many generates a loop over n rows of parts elements; parts is a multiple of strip. Factors and
	// sums have parts elements each; the outer loop is over strips of them. do is called for each
	// register of a strip, with its factors.
	many(name, doc string, factors, vectors []string, sums bool, do func(p loop, k int, f []Op))
	scaleMany(name string, doc ...string)
	sumsOfFour() bool // the sums of two vectors with four fit in the registers
}

// loop is a kernel. Its operations are for register k of a group.
type loop interface {
	// rounds generates the loop; do is called for each register of a group. It stores the sums at
	// the end.
	rounds(do func(k int))
	get(vector string, k int) Op      // loads an element of a vector into a register that may be changed
	mem(vector string, k int) Op      // the same as an operand that may be memory
	store(v Op, vector string, k int) // stores a register to a vector
	times(a, b Op) Op                 // returns a*b in a new register; a may be memory
	multiply(a, b, to Op)             // computes to = a*b; a may be memory
	add(a, b, to Op)                  // computes to = a + b; a may be memory
	subtract(a, b, to Op)             // computes to = b - a
	sum(name string, k int, a, b Op)  // adds a*b, rounded, to a sum; a may be memory
}

func dot(s set) {
	p, _ := s.begin("dot", "computes sums[i%8] += x[i]*y[i] for i < 8n.", nil, []string{"x", "y"}, []string{"sums"})
	p.rounds(func(k int) {
		x := p.get("x", k)
		p.sum("sums", k, p.mem("y", k), x)
	})
}

func dots(s set) {
	p, _ := s.begin("dots", "computes sums[i%8] += x[i]*y[i] and squares[i%8] += x[i]*x[i] for i < 8n.", nil, []string{"x", "y"}, []string{"sums", "squares"})
	p.rounds(func(k int) {
		x := p.get("x", k)
		p.sum("sums", k, p.mem("y", k), x)
		p.sum("squares", k, x, x)
	})
}

// fourVectors returns the names of four vectors and the end of the name of a kernel that reads them.
func fourVectors(ints bool) (x []string, suffix string) {
	if ints {
		return []string{"q0", "q1", "q2", "q3"}, "Ints"
	}
	return []string{"x0", "x1", "x2", "x3"}, ""
}

// dotsTwo generates dotTwoTwo or dotFourTwo: as many x as have two sums each in registers.
func dotsTwo(of set, ints bool) {
	x, suffix := fourVectors(ints)
	s, t := []string{"s0", "s1", "s2", "s3"}, []string{"t0", "t1", "t2", "t3"}
	name := "dotFourTwo"
	if !of.sumsOfFour() {
		name, x, s, t = "dotTwoTwo", x[:2], s[:2], t[:2]
	}
	p, _ := of.begin(name+suffix, "computes sj[i%8] += "+x[0][:1]+"j[i]*y[i] and tj[i%8] += "+x[0][:1]+"j[i]*z[i] for each j and i < 8n.", nil, append(x[:len(x):len(x)], "y", "z"), append(s, t...))
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
func addScaled(p loop, a Op, k int) Op {
	y := p.times(p.mem("x", k), a)
	p.add(p.mem("y", k), y, y)
	p.store(y, "y", k)
	return y
}

func axpy(s set) {
	p, a := s.begin("axpy", "computes y[i] += a*x[i], then sums[i%8] += y[i]*y[i], for i < 8n.", []string{"a"}, []string{"x", "y"}, []string{"sums"})
	p.rounds(func(k int) {
		y := addScaled(p, a[0], k)
		p.sum("sums", k, y, y)
	})
}

func axpyFour(s set, ints bool) {
	x, suffix := fourVectors(ints)
	q := x[0][:1]
	p, a := s.begin("axpyFour"+suffix, "computes y[i] = (((y[i] + a0*"+q+"0[i]) + a1*"+q+"1[i]) + a2*"+q+"2[i]) + a3*"+q+"3[i] for i < 8n.",
		[]string{"a0", "a1", "a2", "a3"}, append(x[:4:4], "y"), nil)
	p.rounds(func(k int) {
		y := p.get("y", k)
		for j := range x {
			p.add(p.times(p.mem(x[j], k), a[j]), y, y)
		}
		p.store(y, "y", k)
	})
}

func axpyFourTwo(s set) {
	x := []string{"x0", "x1", "x2", "x3"}
	p, a := s.begin("axpyFourTwo", "computes axpyFour for y with a and for z with b.",
		[]string{"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"}, append(x, "y", "z"), nil)
	p.rounds(func(k int) {
		y, z := p.get("y", k), p.get("z", k)
		for j := range x {
			v := p.get(x[j], k)
			p.add(p.times(v, a[j]), y, y)
			p.add(p.times(v, a[4+j]), z, z)
		}
		p.store(y, "y", k)
		p.store(z, "z", k)
	})
}

func axpyScaled(s set) {
	p, a := s.begin("axpyScaled", "computes y[i] += a*x[i], then sums[i%8] += y[i]*y[i] and scaled[i%8] += y[i]*(d[i]*y[i]), for i < 8n.", []string{"a"}, []string{"x", "y", "d"}, []string{"sums", "scaled"})
	p.rounds(func(k int) {
		y := addScaled(p, a[0], k)
		p.sum("sums", k, y, y)
		p.sum("scaled", k, p.times(p.mem("d", k), y), y)
	})
}

// advance computes x = x + a*p and p = z + b*p.
func advance(l loop, a, b, z Op, k int) {
	old := l.get("p", k)
	x := l.times(old, a)
	l.add(l.mem("x", k), x, x)
	l.store(x, "x", k)
	l.multiply(old, b, old)
	l.add(z, old, old)
	l.store(old, "p", k)
}

func move(s set) {
	p, ab := s.begin("updateDirection", "computes x[i] += a*p[i], then p[i] = z[i] + b*p[i], for i < 8n.", []string{"a", "b"}, []string{"z", "p", "x"}, nil)
	p.rounds(func(k int) { advance(p, ab[0], ab[1], p.get("z", k), k) })
}

func moveScaled(s set) {
	p, ab := s.begin("updateDirectionScaled", "computes x[i] += a*p[i], then p[i] = d[i]*r[i] + b*p[i], for i < 8n.", []string{"a", "b"}, []string{"d", "r", "p", "x"}, nil)
	p.rounds(func(k int) {
		r := p.get("r", k)
		advance(p, ab[0], ab[1], p.times(p.mem("d", k), r), k)
	})
}

func bicgstabDirection(s set) {
	p, bw := s.begin("bicgstabDirection", "computes p[i] = r[i] + b*(p[i] - w*v[i]) for i < 8n.", []string{"b", "w"}, []string{"r", "v", "p"}, nil)
	p.rounds(func(k int) {
		v := p.times(p.mem("v", k), bw[1])
		t := p.get("p", k)
		p.subtract(v, t, t)
		p.multiply(t, bw[0], t)
		p.add(p.mem("r", k), t, t)
		p.store(t, "p", k)
	})
}

func bicgstabStep(s set) {
	p, aw := s.begin("bicgstabStep", "computes x[i] += a*p[i] + w*s[i] and r[i] -= w*t[i], then sums[i%8] += r[i]*r[i] and shadows[i%8] += c[i]*r[i],\nfor i < 8n. s may be r.",
		[]string{"a", "w"}, []string{"p", "s", "x", "t", "r", "c"}, []string{"sums", "shadows"})
	p.rounds(func(k int) {
		x := p.times(p.mem("p", k), aw[0])
		p.add(p.times(p.mem("s", k), aw[1]), x, x)
		p.add(p.mem("x", k), x, x)
		p.store(x, "x", k)
		t := p.times(p.mem("t", k), aw[1])
		r := p.get("r", k)
		p.subtract(t, r, r)
		p.store(r, "r", k)
		p.sum("sums", k, r, r)
		p.sum("shadows", k, p.mem("c", k), r)
	})
}

// strip is the number of elements of a round of the loops over rows of several vectors: their
// factors and sums stay in registers while the loop moves from row to row.
const strip = 16

func dotMany(s set) {
	s.many("dotMany", "computes sums[i%parts] += x[i]*y[i] for i < n*parts. parts is a multiple of 16.", nil, []string{"x", "y"}, true,
		func(p loop, k int, _ []Op) {
			x := p.get("x", k)
			p.sum("sums", k, p.mem("y", k), x)
		})
}

func axpyMany(s set) {
	s.many("axpyMany", "computes y[i] += a[i%parts]*x[i], then sums[i%parts] += y[i]*y[i], for i < n*parts.",
		[]string{"a"}, []string{"x", "y"}, true, func(p loop, k int, f []Op) {
			y := addScaled(p, f[0], k)
			p.sum("sums", k, y, y)
		})
}

func moveMany(s set) {
	s.many("updateDirectionMany", "computes x[i] += a[i%parts]*p[i], then p[i] = z[i] + b[i%parts]*p[i], for i < n*parts.",
		[]string{"a", "b"}, []string{"z", "p", "x"}, false,
		func(p loop, k int, f []Op) { advance(p, f[0], f[1], p.get("z", k), k) })
}
