package ptx

import (
	"strings"
)

// move decodes mov of predicates; the table has the other moves.
func (b *builder) move(mods string) {
	if mods != "pred" {
		b.unknown()
		return
	}
	if !b.count(2) {
		return
	}
	b.in.op = opPredicate
	b.in.logic = func(a, _ uint32) uint32 { return a }
	b.in.dst, b.in.a = b.predicate(b.ops[0]), b.truth(b.ops[1])
	b.in.b = b.in.a
}

// predicateLogic decodes and.pred, or.pred, xor.pred and not.pred.
func (b *builder) predicateLogic(mods string) {
	if mods != "pred" {
		b.unknown()
		return
	}
	in := b.in
	in.op = opPredicate
	if first, _, _ := strings.Cut(b.tok.text, "."); first == "not" {
		if b.count(2) {
			in.logic = func(a, _ uint32) uint32 { return ^a }
			in.dst, in.a = b.predicate(b.ops[0]), b.truth(b.ops[1])
			in.b = in.a
		}
		return
	} else if b.count(3) {
		in.logic = logic[first]
		in.dst, in.a, in.b = b.predicate(b.ops[0]), b.truth(b.ops[1]), b.truth(b.ops[2])
	}
}

var logic = map[string]func(a, b uint32) uint32{
	"and": func(a, b uint32) uint32 { return a & b },
	"or":  func(a, b uint32) uint32 { return a | b },
	"xor": func(a, b uint32) uint32 { return a ^ b },
}

// setPredicate decodes setp.test[.logic][.ftz].type p[|q], a, b[, [!]c].
func (b *builder) setPredicate(mods string) {
	parts := strings.Split(mods, ".")
	t, ok := parseType(parts[len(parts)-1])
	if !ok || len(parts) < 2 {
		b.unknown()
		return
	}
	s := &set{test: comparison(parts[0], t), other: -1}
	ftz := false
	for i, m := range parts[1 : len(parts)-1] {
		switch {
		case m == "ftz" && t == typ{floatKind, 4} && !ftz:
			ftz = true
		case i == 0 && logic[m] != nil:
			s.logic = logic[m]
		default:
			b.unknown()
			return
		}
	}
	if s.test == nil {
		b.unknown()
		return
	}
	if ftz {
		test := s.test
		s.test = func(a, b uint64) bool { return test(flush(a), flush(b)) }
	}
	n := 3
	if s.logic != nil {
		n = 4
	}
	if !b.count(n) {
		return
	}
	in := b.in
	in.op, in.set = opSetPredicate, s
	dst := b.ops[0]
	if dst.second != nil && dst.second.kind != sinkOperand {
		s.other = b.predicate(*dst.second)
	}
	in.dst, in.a, in.b = b.predicate(dst), b.source(b.ops[1]), b.source(b.ops[2])
	if s.logic != nil {
		o := b.ops[3]
		s.negated, o.negated = o.negated, false
		in.pred = b.predicate(o)
	}
}

// selectValue decodes selp.type d, a, b, p.
func (b *builder) selectValue(mods string) {
	t, ok := parseType(mods)
	if !ok || t.size < 2 {
		b.unknown()
		return
	}
	if !b.count(4) {
		return
	}
	in := b.in
	in.op, in.size = opSelect, t.size
	in.dst, in.a, in.b, in.pred = b.sized(b.ops[0], t.size), b.source(b.ops[1]), b.source(b.ops[2]), b.predicate(b.ops[3])
}

// comparison returns the function of a setp instruction.
func comparison(op string, t typ) func(a, b uint64) bool {
	switch t {
	case typ{unsignedKind, 2}:
		return compareInt[uint16](op)
	case typ{unsignedKind, 4}:
		return compareInt[uint32](op)
	case typ{unsignedKind, 8}:
		return compareInt[uint64](op)
	case typ{signedKind, 2}:
		return compareInt[int16](op)
	case typ{signedKind, 4}:
		return compareInt[int32](op)
	case typ{signedKind, 8}:
		return compareInt[int64](op)
	case typ{bitsKind, 2}:
		return equality[uint16](op)
	case typ{bitsKind, 4}:
		return equality[uint32](op)
	case typ{bitsKind, 8}:
		return equality[uint64](op)
	case typ{floatKind, 4}:
		return compareFloat(op, func(a uint64) float64 { return float64(f32(a)) })
	case typ{floatKind, 8}:
		return compareFloat(op, f64)
	}
	return nil
}

func equality[T integer](op string) func(a, b uint64) bool {
	if op == "eq" || op == "ne" {
		return compareInt[T](op)
	}
	return nil
}

// compareInt compares integers. lo, ls, hi and hs name lt, le, gt and ge for unsigned
// numbers.
func compareInt[T integer](op string) func(a, b uint64) bool {
	signed := ^T(0) < 0
	switch op {
	case "eq":
		return func(a, b uint64) bool { return T(a) == T(b) }
	case "ne":
		return func(a, b uint64) bool { return T(a) != T(b) }
	case "lo", "ls", "hi", "hs":
		if signed {
			return nil
		}
		op = map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[op]
	}
	switch op {
	case "lt":
		return func(a, b uint64) bool { return T(a) < T(b) }
	case "le":
		return func(a, b uint64) bool { return T(a) <= T(b) }
	case "gt":
		return func(a, b uint64) bool { return T(a) > T(b) }
	case "ge":
		return func(a, b uint64) bool { return T(a) >= T(b) }
	}
	return nil
}

// compareFloat compares floating-point numbers. If an operand is a NaN, the ordered
// comparisons are false, and those that end in u (unordered) are true.
func compareFloat(op string, load func(uint64) float64) func(a, b uint64) bool {
	var f func(a, b float64) bool
	switch strings.TrimSuffix(op, "u") {
	case "eq":
		f = func(a, b float64) bool { return a == b }
	case "ne":
		f = func(a, b float64) bool { return a < b || a > b }
	case "lt":
		f = func(a, b float64) bool { return a < b }
	case "le":
		f = func(a, b float64) bool { return a <= b }
	case "gt":
		f = func(a, b float64) bool { return a > b }
	case "ge":
		f = func(a, b float64) bool { return a >= b }
	case "n": // none such, but "nu" must not pass
		return nil
	}
	switch {
	case op == "num":
		f = func(a, b float64) bool { return a == a && b == b }
	case op == "nan":
		f = func(a, b float64) bool { return a != a || b != b }
	case f == nil:
		return nil
	case strings.HasSuffix(op, "u"):
		ordered := f
		f = func(a, b float64) bool { return a != a || b != b || ordered(a, b) }
	}
	return func(a, b uint64) bool { return f(load(a), load(b)) }
}
