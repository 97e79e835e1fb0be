package ptx

import (
	"math"
	"strings"
)

// conversion returns the function of a cvt instruction. mods is what follows "cvt.":
// [rounding.][ftz.]to.from.
func conversion(mods string) (f func(uint64) uint64, to typ, ok bool) {
	parts := strings.Split(mods, ".")
	n := len(parts)
	if n < 2 {
		return nil, typ{}, false
	}
	to, ok1 := parseType(parts[n-2])
	from, ok2 := parseType(parts[n-1])
	if !ok1 || !ok2 || to.kind == predKind || from.kind == predKind || to.kind == bitsKind || from.kind == bitsKind {
		return nil, typ{}, false
	}
	rounding, ftz := "", false
	for i, p := range parts[:n-2] {
		switch {
		case p == "ftz" && !ftz:
			ftz = true
		case i == 0:
			rounding = p
		default:
			return nil, typ{}, false
		}
	}
	switch {
	case from.kind == floatKind && to.kind == floatKind:
		f = floatToFloat(rounding, to.size, from.size)
	case from.kind == floatKind:
		f = floatToInt(rounding, to, from.size)
	case to.kind == floatKind:
		f = intToFloat(rounding, to.size, from)
	case rounding == "":
		f = intToInt(to, from)
	}
	if f == nil {
		return nil, typ{}, false
	}
	if ftz {
		if from != (typ{floatKind, 4}) && to != (typ{floatKind, 4}) {
			return nil, typ{}, false
		}
		f = flushConversion(f, to, from)
	}
	return f, to, true
}

func flushConversion(f func(uint64) uint64, to, from typ) func(uint64) uint64 {
	single := typ{floatKind, 4}
	return func(a uint64) uint64 {
		if from == single {
			a = flush(a)
		}
		a = f(a)
		if to == single {
			a = flush(a)
		}
		return a
	}
}

func intToInt(to, from typ) func(uint64) uint64 {
	out, in := mask(to.size), mask(from.size)
	if from.kind == signedKind {
		return func(a uint64) uint64 { return signExtend(a, from.size) & out }
	}
	return func(a uint64) uint64 { return a & in & out }
}

// intToFloat supports only rounding to nearest. Go rounds these conversions once.
func intToFloat(rounding string, size int, from typ) func(uint64) uint64 {
	if rounding != "rn" {
		return nil
	}
	signed := from.kind == signedKind
	return func(a uint64) uint64 {
		switch {
		case signed && size == 4:
			return putF32(float32(int64(signExtend(a, from.size))))
		case signed:
			return putF64(float64(int64(signExtend(a, from.size))))
		case size == 4:
			return putF32(float32(a & mask(from.size)))
		}
		return putF64(float64(a & mask(from.size)))
	}
}

// integral returns the function that rounds to a whole number.
func integral(rounding string) func(float64) float64 {
	switch rounding {
	case "rzi":
		return math.Trunc
	case "rni":
		return math.RoundToEven
	case "rmi":
		return math.Floor
	case "rpi":
		return math.Ceil
	}
	return nil
}

// floatToInt rounds and clamps to the range of the integer. A NaN becomes 0 if neither
// type has 64 bits, else the number whose top bit alone is set (PTX ISA 9.0, cvt).
func floatToInt(rounding string, to typ, size int) func(uint64) uint64 {
	round := integral(rounding)
	if round == nil {
		return nil
	}
	w := 8 * to.size
	lo, hi := 0.0, math.Ldexp(1, w) // the first number that is too large
	least, most := uint64(0), mask(to.size)
	if to.kind == signedKind {
		lo, hi = -math.Ldexp(1, w-1), math.Ldexp(1, w-1)
		least, most = uint64(1)<<(w-1), uint64(1)<<(w-1)-1
	}
	ofNaN := uint64(0)
	if size == 8 || to.size == 8 {
		ofNaN = uint64(1) << (w - 1)
	}
	return func(a uint64) uint64 {
		v := f64(a)
		if size == 4 {
			v = float64(f32(a))
		}
		v = round(v)
		switch {
		case v != v:
			return ofNaN
		case v < lo:
			return least
		case v >= hi:
			return most
		case to.kind == signedKind:
			return uint64(int64(v)) & mask(to.size)
		}
		return uint64(v)
	}
}

func floatToFloat(rounding string, to, from int) func(uint64) uint64 {
	switch {
	case to == 8 && from == 4 && rounding == "":
		return func(a uint64) uint64 { return putF64(float64(f32(a))) }
	case to == 4 && from == 8 && rounding == "rn":
		return func(a uint64) uint64 { return putF32(float32(f64(a))) }
	case to != from:
		return nil
	case rounding == "":
		return func(a uint64) uint64 { return a & mask(to) }
	}
	round := integral(rounding)
	switch {
	case round == nil:
		return nil
	case to == 4:
		return func(a uint64) uint64 { return putF32(float32(round(float64(f32(a))))) }
	}
	return func(a uint64) uint64 { return putF64(round(f64(a))) }
}

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
