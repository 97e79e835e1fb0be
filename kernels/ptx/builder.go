package ptx

import (
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// builder fills one instruction from its operands and keeps the first error.
type builder struct {
	d   *decoder
	in  *instr
	tok token
	ops []operand
	err error
}

func (b *builder) fail(t token, format string, args ...any) {
	if b.err == nil {
		b.err = sparse.InputLinef(b.d.p.mod.name, int64(t.line), format, args...)
	}
}

func (b *builder) unknown() { b.fail(b.tok, "unknown instruction %s", describe(b.tok)) }

// count checks the number of operands.
func (b *builder) count(n int) bool {
	if b.err == nil && len(b.ops) != n {
		b.fail(b.tok, "%s has %d operands, it needs %d", b.tok.text, len(b.ops), n)
	}
	return b.err == nil
}

// source is a register or a constant.
func (b *builder) source(o operand) int32 {
	if o.kind != registerOperand && o.kind != constantOperand || o.second != nil {
		b.fail(o.tok, "%s where a register or a number belongs", describe(o.tok))
	}
	return o.index
}

// register is a register to write.
func (b *builder) register(o operand) int32 {
	if o.kind != registerOperand {
		b.fail(o.tok, "%s where a register belongs", describe(o.tok))
	}
	return o.index
}

// sized is register with a check of its size.
func (b *builder) sized(o operand, size int) int32 {
	i := b.register(o)
	if b.err == nil && o.size != size {
		b.fail(o.tok, "%s has %d bits, %s writes %d", o.tok.text, 8*o.size, b.tok.text, 8*size)
	}
	return i
}

// predicate is a predicate that is not negated.
func (b *builder) predicate(o operand) int32 {
	if o.kind != predicateOperand || o.negated {
		b.fail(o.tok, "%s where a predicate belongs", describe(o.tok))
	}
	return o.index
}

// truth is a predicate or a constant to read.
func (b *builder) truth(o operand) int32 {
	if o.kind == constantOperand {
		return o.index
	}
	return b.predicate(o)
}

// arithmetic decodes what the table has.
func (b *builder) arithmetic(o alu, mods string) {
	if strings.HasPrefix(b.tok.text, "mov.") && b.special() {
		return
	}
	if !b.count(1 + o.operands()) {
		return
	}
	in := b.in
	if o.f1 != nil && b.isVector() {
		b.packing(mods)
		return
	}
	in.alu = o
	in.dst = b.sized(b.ops[0], b.resultSize(mods))
	for i, src := range []*int32{&in.a, &in.b, &in.c, &in.d}[:o.operands()] {
		*src = b.source(b.ops[1+i])
	}
	in.op = []opcode{opUnary, opBinary, opTernary, opQuaternary}[o.operands()-1]
}

// resultSize is the bytes of the result of an arithmetic instruction, from its
// last type.
func (b *builder) resultSize(mods string) int {
	last := mods[strings.LastIndexByte(mods, '.')+1:]
	t, _ := parseType(last)
	switch {
	case strings.HasPrefix(mods, "wide."):
		return 2 * t.size
	case strings.HasPrefix(b.tok.text, "popc."), strings.HasPrefix(b.tok.text, "clz."):
		return 4
	}
	return t.size
}

func (b *builder) isVector() bool {
	return b.ops[0].kind == vectorOperand || b.ops[1].kind == vectorOperand
}

// packing decodes mov.b64 {lo, hi}, r and mov.b64 r, {lo, hi} and the like.
func (b *builder) packing(mods string) {
	t, _ := parseType(mods)
	vec, other := b.ops[0], b.ops[1]
	b.in.op = opUnpack
	if other.kind == vectorOperand {
		vec, other = other, vec
		b.in.op = opPack
	}
	n := len(vec.list)
	if t.kind != bitsKind || n != 2 && n != 4 || t.size/n < 1 || vec.kind == other.kind {
		b.unknown()
		return
	}
	b.in.size = t.size / n
	for _, e := range vec.list {
		switch {
		case e.kind == sinkOperand && b.in.op == opUnpack:
			b.in.vec = append(b.in.vec, noRegister)
		case b.in.op == opUnpack:
			b.in.vec = append(b.in.vec, b.sized(e, b.in.size))
		default:
			b.in.vec = append(b.in.vec, b.source(e))
		}
	}
	if b.in.op == opUnpack {
		b.in.a = b.source(other)
	} else {
		b.in.dst = b.sized(other, t.size)
	}
}

// noRegister stands for a sink among registers.
const noRegister = int32(-1 << 31)

// special decodes mov from a special register.
func (b *builder) special() bool {
	if len(b.ops) != 2 || b.ops[1].kind != specialOperand {
		return false
	}
	s := specials[b.ops[1].name]
	b.in.op, b.in.special = opSpecial, s.read
	b.in.dst = b.sized(b.ops[0], s.size)
	return true
}

// move decodes the moves that the table does not have: those of predicates.
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

// predicateLogic decodes and.pred and its like.
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

// convert decodes cvt. A signed result is extended to a wider register.
func (b *builder) convert(mods string) {
	f, to, ok := conversion(mods)
	if !ok {
		b.unknown()
		return
	}
	if !b.count(2) {
		return
	}
	in := b.in
	in.op, in.dst, in.a = opUnary, b.register(b.ops[0]), b.source(b.ops[1])
	size := b.ops[0].size
	switch {
	case size < to.size && b.err == nil:
		b.fail(b.tok, "%s has %d bits, %s writes %d", b.ops[0].tok.text, 8*size, b.tok.text, 8*to.size)
	case size > to.size && to.kind == signedKind:
		narrow := f
		f = func(a uint64) uint64 { return signExtend(narrow(a), to.size) & mask(size) }
	}
	in.f1 = f
}

// convertAddress decodes cvta: generic addresses have windows for shared and
// local memory.
func (b *builder) convertAddress(mods string) {
	to := strings.HasPrefix(mods, "to.")
	name, size, _ := strings.Cut(strings.TrimPrefix(mods, "to."), ".")
	if size != "u64" {
		b.unknown()
		return
	}
	var window uint64
	switch name {
	case "global", "const":
	case "shared":
		window = sharedWindow
	case "local":
		window = localWindow
	default:
		b.unknown()
		return
	}
	if !b.count(2) {
		return
	}
	if to {
		window = -window
	}
	b.in.op, b.in.f1 = opUnary, func(a uint64) uint64 { return a + window }
	b.in.dst, b.in.a = b.sized(b.ops[0], 8), b.source(b.ops[1])
}

func (b *builder) exit(mods string) {
	if mods != "" && mods != "uni" {
		b.unknown()
	}
	b.count(0)
	b.in.op = opExit
}

func (b *builder) trap(mods string) {
	if mods != "" {
		b.unknown()
	}
	b.count(0)
	b.in.op = opTrap
}
