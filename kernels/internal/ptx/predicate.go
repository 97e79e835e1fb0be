package ptx

import "strings"

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
