package ptx

// alu is an instruction that computes one register from others in each lane. The
// function for its number of operands is set.
type alu struct {
	f1 func(a uint64) uint64
	f2 func(a, b uint64) uint64
	f3 func(a, b, c uint64) uint64
	f4 func(a, b, c, d uint64) uint64
}

// operands returns the number of sources.
func (o alu) operands() int {
	switch {
	case o.f1 != nil:
		return 1
	case o.f2 != nil:
		return 2
	case o.f3 != nil:
		return 3
	}
	return 4
}

// arithmetic has every such instruction under its full name. Other names are errors.
var arithmetic = func() map[string]alu {
	t := map[string]alu{
		"mul.hi.u16": {f2: mulHi16[uint16]}, "mul.hi.s16": {f2: mulHi16[int16]},
		"mul.hi.u32": {f2: mulHiU32}, "mul.hi.s32": {f2: mulHiS32},
		"mul.hi.u64": {f2: mulHiU64}, "mul.hi.s64": {f2: mulHiS64},
		"mad.hi.u32": {f3: func(a, b, c uint64) uint64 { return put(uint32(mulHiU32(a, b) + c)) }},
		"mad.hi.s32": {f3: func(a, b, c uint64) uint64 { return put(uint32(mulHiS32(a, b) + c)) }},
		"mad.hi.u64": {f3: func(a, b, c uint64) uint64 { return mulHiU64(a, b) + c }},
		"mad.hi.s64": {f3: func(a, b, c uint64) uint64 { return mulHiS64(a, b) + c }},

		"mul.wide.u16": {f2: mulWide[uint32, uint16]}, "mul.wide.s16": {f2: mulWide[int32, int16]},
		"mul.wide.u32": {f2: mulWide[uint64, uint32]}, "mul.wide.s32": {f2: mulWide[int64, int32]},
		"mad.wide.u16": {f3: madWide[uint32, uint16]}, "mad.wide.s16": {f3: madWide[int32, int16]},
		"mad.wide.u32": {f3: madWide[uint64, uint32]}, "mad.wide.s32": {f3: madWide[int64, int32]},

		"popc.b32": {f1: popc32}, "popc.b64": {f1: popc64},
		"clz.b32": {f1: clz32}, "clz.b64": {f1: clz64},
		"brev.b32": {f1: brev32}, "brev.b64": {f1: brev64},
		"bfe.u32": {f3: bfeU[uint32]}, "bfe.u64": {f3: bfeU[uint64]},
		"bfe.s32": {f3: bfeS[int32]}, "bfe.s64": {f3: bfeS[int64]},
		"bfi.b32": {f4: bfi[uint32]}, "bfi.b64": {f4: bfi[uint64]},
		"prmt.b32": {f3: prmt}, "lop3.b32": {f4: lop3},
		"shf.l.wrap.b32": {f3: shf(true, true)}, "shf.l.clamp.b32": {f3: shf(true, false)},
		"shf.r.wrap.b32": {f3: shf(false, true)}, "shf.r.clamp.b32": {f3: shf(false, false)},

		"fma.rn.f64": {f3: fmaF64}, "mad.rn.f64": {f3: fmaF64},
		"div.rn.f64": {f2: divF64}, "sqrt.rn.f64": {f1: sqrtF64}, "rcp.rn.f64": {f1: rcpF64},
		"neg.f64": {f1: negF64}, "abs.f64": {f1: absF64}, "copysign.f64": {f2: copysignF64},
		"min.f64": {f2: minF64}, "max.f64": {f2: maxF64},
		"copysign.f32": {f2: copysignF32},
		"mov.f32":      {f1: move[uint32]}, "mov.f64": {f1: move[uint64]},
	}
	integers[uint16](t, "u16")
	integers[uint32](t, "u32")
	integers[uint64](t, "u64")
	integers[int16](t, "s16")
	integers[int32](t, "s32")
	integers[int64](t, "s64")
	bitwise[uint16](t, "b16")
	bitwise[uint32](t, "b32")
	bitwise[uint64](t, "b64")

	for _, rn := range []string{"", ".rn"} {
		t["add"+rn+".f64"] = alu{f2: addF64}
		t["sub"+rn+".f64"] = alu{f2: subF64}
		t["mul"+rn+".f64"] = alu{f2: mulF64}
		single(t, "add"+rn, alu{f2: addF32})
		single(t, "sub"+rn, alu{f2: subF32})
		single(t, "mul"+rn, alu{f2: mulF32})
	}
	single(t, "fma.rn", alu{f3: fmaF32})
	single(t, "mad.rn", alu{f3: fmaF32})
	single(t, "div.rn", alu{f2: divF32})
	single(t, "sqrt.rn", alu{f1: sqrtF32})
	single(t, "rcp.rn", alu{f1: rcpF32})
	single(t, "neg", alu{f1: negF32})
	single(t, "abs", alu{f1: absF32})
	single(t, "min", alu{f2: minF32})
	single(t, "max", alu{f2: maxF32})
	return t
}()

func integers[T integer](t map[string]alu, name string) {
	t["add."+name] = alu{f2: add[T]}
	t["sub."+name] = alu{f2: sub[T]}
	t["mul.lo."+name] = alu{f2: mulLo[T]}
	t["mad.lo."+name] = alu{f3: madLo[T]}
	t["div."+name] = alu{f2: div[T]}
	t["rem."+name] = alu{f2: rem[T]}
	t["min."+name] = alu{f2: minInt[T]}
	t["max."+name] = alu{f2: maxInt[T]}
	t["shr."+name] = alu{f2: shr[T]}
	t["mov."+name] = alu{f1: move[T]}
	if ^T(0) < 0 {
		t["neg."+name] = alu{f1: negInt[T]}
		t["abs."+name] = alu{f1: absInt[T]}
	}
}

func bitwise[T integer](t map[string]alu, name string) {
	t["and."+name] = alu{f2: and[T]}
	t["or."+name] = alu{f2: or[T]}
	t["xor."+name] = alu{f2: xor[T]}
	t["not."+name] = alu{f1: not[T]}
	t["shl."+name] = alu{f2: shl[T]}
	t["shr."+name] = alu{f2: shr[T]}
	t["mov."+name] = alu{f1: move[T]}
}

// single adds a float32 instruction to t with and without .ftz.
func single(t map[string]alu, name string, o alu) {
	t[name+".f32"] = o
	switch {
	case o.f1 != nil:
		o.f1 = flush1(o.f1)
	case o.f2 != nil:
		o.f2 = flush2(o.f2)
	default:
		o.f3 = flush3(o.f3)
	}
	t[name+".ftz.f32"] = o
}
