package ptx

import (
	"math"
	"math/bits"
)

// calculate executes an arithmetic instruction in the lanes of m.
func (w *warp) calculate(in *instr, m uint32) {
	d := &w.regs[in.dst]
	a := w.source(in.a)
	if m != math.MaxUint32 {
		w.calculateSome(in, m, d, a)
		return
	}
	switch in.op {
	case opUnary:
		f := in.f1
		for l := range d {
			d[l] = f(a[l])
		}
	case opBinary:
		f, b := in.f2, w.source(in.b)
		for l := range d {
			d[l] = f(a[l], b[l])
		}
	case opTernary:
		f, b, c := in.f3, w.source(in.b), w.source(in.c)
		for l := range d {
			d[l] = f(a[l], b[l], c[l])
		}
	default:
		f, b, c, e := in.f4, w.source(in.b), w.source(in.c), w.source(in.d)
		for l := range d {
			d[l] = f(a[l], b[l], c[l], e[l])
		}
	}
}

func (w *warp) calculateSome(in *instr, m uint32, d, a *vec) {
	switch in.op {
	case opUnary:
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = in.f1(a[l])
		}
	case opBinary:
		b := w.source(in.b)
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = in.f2(a[l], b[l])
		}
	case opTernary:
		b, c := w.source(in.b), w.source(in.c)
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = in.f3(a[l], b[l], c[l])
		}
	default:
		b, c, e := w.source(in.b), w.source(in.c), w.source(in.d)
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = in.f4(a[l], b[l], c[l], e[l])
		}
	}
}

// predicate returns a predicate of all lanes; p may be a constant.
func (w *warp) predicate(p int32) uint32 {
	if p >= 0 {
		return w.preds[p]
	}
	if w.consts[^p][0] != 0 {
		return math.MaxUint32
	}
	return 0
}

func (w *warp) compare(in *instr, m uint32) {
	s, a, b := in.set, w.source(in.a), w.source(in.b)
	test := s.test
	var v uint32
	if m == math.MaxUint32 {
		for l := range a {
			if test(a[l], b[l]) {
				v |= 1 << l
			}
		}
	} else {
		for n := m; n != 0; n &= n - 1 {
			l := bits.TrailingZeros32(n)
			if test(a[l], b[l]) {
				v |= 1 << l
			}
		}
	}
	not := ^v
	if s.logic != nil {
		c := w.preds[in.pred]
		if s.negated {
			c = ^c
		}
		v, not = s.logic(v, c), s.logic(not, c)
	}
	w.preds[in.dst] = w.preds[in.dst]&^m | v&m
	if s.other >= 0 {
		w.preds[s.other] = w.preds[s.other]&^m | not&m
	}
}

func (w *warp) pack(in *instr, m uint32) {
	var r vec
	cut := mask(in.size)
	for i, e := range in.vec {
		a := w.source(e)
		for l := range r {
			r[l] |= a[l] & cut << (8 * in.size * i)
		}
	}
	d := &w.regs[in.dst]
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		d[l] = r[l]
	}
}

func (w *warp) unpack(in *instr, m uint32) {
	a := *w.source(in.a)
	cut := mask(in.size)
	for i, e := range in.vec {
		if e == noRegister {
			continue
		}
		d := &w.regs[e]
		for n := m; n != 0; n &= n - 1 {
			l := bits.TrailingZeros32(n)
			d[l] = a[l] >> (8 * in.size * i) & cut
		}
	}
}
