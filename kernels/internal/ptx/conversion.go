package ptx

import "strings"

// convert decodes cvt. A signed result is sign-extended if the register is wider.
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

// convertAddress decodes cvta. Shared and local memory have windows in the generic
// address space.
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
