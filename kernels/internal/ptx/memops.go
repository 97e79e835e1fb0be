package ptx

import (
	"slices"
	"strings"
)

// strengths and scopes are the modifiers of ordered accesses.
var (
	strengths  = []string{"relaxed", "acquire", "release", "acq_rel"}
	scopes     = []string{"cta", "gpu", "sys", "gl"}
	loadHints  = []string{"ca", "cg", "cs", "lu", "cv"}
	storeHints = []string{"wb", "cg", "cs", "wt"}
)

// take removes the first modifier and returns it, if it is one of known.
func take(mods *[]string, known ...string) string {
	if len(*mods) > 0 && slices.Contains(known, (*mods)[0]) {
		m := (*mods)[0]
		*mods = (*mods)[1:]
		return m
	}
	return ""
}

// prefetches has the oldest target that supports each L2 prefetch size.
var prefetches = map[string]int{"L2::64B": 75, "L2::128B": 75, "L2::256B": 80}

// memory reads the modifiers that ld and st share: [.weak|.volatile|.relaxed.scope...]
// [.space][.hint][.nc][.L1::no_allocate][.L2::size][.vector].type.
func (b *builder) memory(mods string, hints []string) (a *access, t typ, n int, ok bool) {
	m := strings.Split(mods, ".")
	a = &access{}
	switch {
	case take(&m, "weak") != "":
	case take(&m, "volatile") != "":
		a.strong = true
	case take(&m, strengths[:3]...) != "":
		a.strong = true
		if take(&m, scopes...) == "" {
			return nil, t, 0, false
		}
	}
	if s := take(&m, "global", "const", "shared", "local", "param"); s != "" {
		a.space = spaces[s]
	}
	hint := take(&m, hints...)
	a.nc = take(&m, "nc") != ""
	if take(&m, "L1::no_allocate") != "" && (!a.nc || hint != "" || b.d.p.version < 7.4) {
		return nil, t, 0, false
	}
	if s := take(&m, "L2::64B", "L2::128B", "L2::256B"); s != "" && (!a.nc || b.d.p.version < 7.4 || b.d.p.arch < prefetches[s]) {
		return nil, t, 0, false
	}
	n = 1
	switch take(&m, "v2", "v4") {
	case "v2":
		n = 2
	case "v4":
		n = 4
	}
	if len(m) != 1 {
		return nil, t, 0, false
	}
	t, ok = parseType(m[0])
	ok = ok && t.kind != predKind && n*t.size <= 16 && !(a.nc && a.space != globalSpace)
	a.size, a.signed = t.size, t.kind == signedKind
	return a, t, n, ok
}

// elements returns the operands of a vector access, or the single operand.
func (b *builder) elements(o operand, n int) []operand {
	if n == 1 {
		return []operand{o}
	}
	if o.kind != vectorOperand || len(o.list) != n {
		b.fail(o.tok, "%s needs a vector of %d", b.tok.text, n)
		return nil
	}
	return o.list
}

func (b *builder) address(a *access, o operand) int32 {
	if o.kind != addressOperand {
		b.fail(o.tok, "%s where an address in brackets belongs", describe(o.tok))
	}
	a.offset = o.offset
	return o.index
}

func (b *builder) load(mods string) {
	a, t, n, ok := b.memory(mods, loadHints)
	if !ok || strings.HasPrefix(b.tok.text, "ldu") {
		b.unknown()
		return
	}
	if !b.count(2) {
		return
	}
	in := b.in
	in.op, in.mem, in.size = opLoad, a, t.size
	for _, e := range b.elements(b.ops[0], n) {
		if e.kind == sinkOperand && n > 1 {
			in.vec = append(in.vec, noRegister)
			a.regSize = append(a.regSize, t.size)
			continue
		}
		in.vec = append(in.vec, b.register(e))
		a.regSize = append(a.regSize, e.size)
		if b.err == nil && e.size < t.size {
			b.fail(e.tok, "%s has %d bits, %s loads %d", e.tok.text, 8*e.size, b.tok.text, 8*t.size)
		}
	}
	in.a = b.address(a, b.ops[1])
}

func (b *builder) store(mods string) {
	a, t, n, ok := b.memory(mods, storeHints)
	if !ok || a.nc || a.space == constSpace || a.space == paramSpace {
		b.unknown()
		return
	}
	if !b.count(2) {
		return
	}
	in := b.in
	in.op, in.mem, in.size = opStore, a, t.size
	in.a = b.address(a, b.ops[0])
	for _, e := range b.elements(b.ops[1], n) {
		in.vec = append(in.vec, b.source(e))
	}
}

// atomic decodes atom and red: [.order][.scope][.space].operation.type. Devices flush
// subnormal operands of float32 additions to zero in global memory, but not in shared
// memory.
func (b *builder) atomic(mods string) {
	m := strings.Split(mods, ".")
	if take(&m, strengths...) != "" && take(&m, scopes...) == "" {
		b.unknown()
		return
	}
	take(&m, "cta", "gpu", "sys")
	a := &access{strong: true}
	if s := take(&m, "global", "shared"); s != "" {
		a.space = spaces[s]
	}
	if len(m) != 2 {
		b.unknown()
		return
	}
	t, ok := parseType(m[1])
	a.size = t.size
	a.update = updates[m[0]+"."+m[1]]
	a.beyond = a.update
	if m[0]+"."+m[1] == "add.f32" {
		a.beyond = func(old, x, _ uint64) uint64 { return flush2(addF32)(old, x) }
	}
	if !ok || a.update == nil {
		b.unknown()
		return
	}
	in := b.in
	in.op, in.mem, in.size, in.dst = opAtomic, a, t.size, -1
	ops := b.ops
	n := 2
	if m[0] == "cas" {
		n = 3
	}
	if strings.HasPrefix(b.tok.text, "atom") {
		if !b.count(n + 1) {
			return
		}
		if ops[0].kind != sinkOperand {
			in.dst = b.sized(ops[0], t.size)
		}
		ops = ops[1:]
	} else if m[0] == "cas" || m[0] == "exch" {
		b.unknown()
		return
	} else if !b.count(n) {
		return
	}
	in.a, in.b = b.address(a, ops[0]), b.source(ops[1])
	in.c = in.b
	if n == 3 {
		in.c = b.source(ops[2])
	}
}

// updates has the function of each atomic: the new value from the old value and the
// operands.
var updates = func() map[string]func(old, x, y uint64) uint64 {
	t := map[string]func(old, x, y uint64) uint64{}
	two := func(name string, f func(a, b uint64) uint64) {
		t[name] = func(old, x, _ uint64) uint64 { return f(old, x) }
	}
	two("add.f32", addF32)
	two("add.f64", addF64)
	two("add.u32", add[uint32])
	two("add.s32", add[int32])
	two("add.u64", add[uint64])
	two("min.u32", minInt[uint32])
	two("min.s32", minInt[int32])
	two("min.u64", minInt[uint64])
	two("min.s64", minInt[int64])
	two("max.u32", maxInt[uint32])
	two("max.s32", maxInt[int32])
	two("max.u64", maxInt[uint64])
	two("max.s64", maxInt[int64])
	two("and.b32", and[uint32])
	two("or.b32", or[uint32])
	two("xor.b32", xor[uint32])
	two("and.b64", and[uint64])
	two("or.b64", or[uint64])
	two("xor.b64", xor[uint64])
	for name, size := range map[string]int{"b32": 4, "b64": 8} {
		m := mask(size)
		t["exch."+name] = func(_, x, _ uint64) uint64 { return x & m }
		t["cas."+name] = func(old, x, y uint64) uint64 {
			if old == x&m {
				return y & m
			}
			return old
		}
	}
	t["inc.u32"] = func(old, x, _ uint64) uint64 {
		if old >= x&mask(4) {
			return 0
		}
		return old + 1
	}
	t["dec.u32"] = func(old, x, _ uint64) uint64 {
		if old == 0 || old > x&mask(4) {
			return x & mask(4)
		}
		return old - 1
	}
	return t
}()
