package ptx

import (
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// builder decodes one instruction from its operands and keeps the first error.
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

// source returns the index of an operand that is a register or a constant.
func (b *builder) source(o operand) int32 {
	if o.kind != registerOperand && o.kind != constantOperand || o.second != nil {
		b.fail(o.tok, "%s where a register or a number belongs", describe(o.tok))
	}
	return o.index
}

// register returns the index of a register to write.
func (b *builder) register(o operand) int32 {
	if o.kind != registerOperand {
		b.fail(o.tok, "%s where a register belongs", describe(o.tok))
	}
	return o.index
}

// sized is register with a check of the register's size.
func (b *builder) sized(o operand, size int) int32 {
	i := b.register(o)
	if b.err == nil && o.size != size {
		b.fail(o.tok, "%s has %d bits, %s writes %d", o.tok.text, 8*o.size, b.tok.text, 8*size)
	}
	return i
}

// predicate returns the index of a predicate that is not negated.
func (b *builder) predicate(o operand) int32 {
	if o.kind != predicateOperand || o.negated {
		b.fail(o.tok, "%s where a predicate belongs", describe(o.tok))
	}
	return o.index
}

// truth returns the index of a predicate or a constant to read.
func (b *builder) truth(o operand) int32 {
	if o.kind == constantOperand {
		return o.index
	}
	return b.predicate(o)
}

// arithmetic decodes an instruction of the table named arithmetic.
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

// resultSize returns the bytes of the result of an arithmetic instruction. The last
// type in its name decides.
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

// packing decodes mov.b64 {lo, hi}, r and mov.b64 r, {lo, hi}, and the same for other
// sizes.
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

// noRegister stands for a sink in a list of registers.
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
