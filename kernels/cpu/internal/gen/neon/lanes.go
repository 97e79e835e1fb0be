package neon

import (
	"fmt"
	"regexp"
)

// Lanes is the type of the elements of a kernel.
type Lanes struct{ Double bool } // float64, or float32

// All is both types.
var All = []Lanes{{Double: true}, {}}

// Size returns the bytes of an element.
func (l Lanes) Size() int { return 1 << l.Shift() }

// Shift returns the binary logarithm of Size.
func (l Lanes) Shift() int {
	if l.Double {
		return 3
	}
	return 2
}

// Count returns the number of elements of a register.
func (l Lanes) Count() int { return 16 / l.Size() }

// Suffix ends the names of kernels.
func (l Lanes) Suffix() string { return "F" + l.pick("64", "32") + "NEON" }

// Type returns the type of an element.
func (l Lanes) Type() string { return l.pick("float64", "float32") }

// Arrangement returns that of a whole register.
func (l Lanes) Arrangement() string { return l.pick("D2", "S4") }

// Element returns element i of a register.
func (l Lanes) Element(v V, i int) string { return v.Of(fmt.Sprintf("%s[%d]", l.pick("D", "S"), i)) }

// One returns the instruction of one element that has this name without its last letter, as FMADD or FLDP.
func (l Lanes) One(name string) string { return name + l.pick("D", "S") }

func (l Lanes) pick(double, single string) string {
	if l.Double {
		return double
	}
	return single
}

// three writes an instruction with three registers of the given code for float32 that Go's assembler does not have.
func (l Lanes) three(f *Function, code uint32, name string, a, b, to V) {
	if l.Double {
		code |= 1 << 22
	}
	of := l.pick("2D", "4S")
	f.word(code|uint32(b)<<16|uint32(a)<<5|uint32(to), fmt.Sprintf("%s V%d.%s, V%d.%s, V%d.%s", name, to, of, a, of, b, of))
}

// Mul computes to = a*b.
func (l Lanes) Mul(f *Function, a, b, to V) { l.three(f, 0x6E20DC00, "FMUL", a, b, to) }

// Add computes to = a + b.
func (l Lanes) Add(f *Function, a, b, to V) { l.three(f, 0x4E20D400, "FADD", a, b, to) }

// Sub computes to = a - b.
func (l Lanes) Sub(f *Function, a, b, to V) { l.three(f, 0x4EA0D400, "FSUB", a, b, to) }

// Equal sets all bits of the elements of to in which a = b, and clears those of the others, also where one is NaN.
func (l Lanes) Equal(f *Function, a, b, to V) { l.three(f, 0x4E20E400, "FCMEQ", a, b, to) }

// FMA computes acc += a*b, rounded once.
func (l Lanes) FMA(f *Function, a, b, acc V) {
	of := l.Arrangement()
	f.I("VFMLA", a.Of(of), b.Of(of), acc.Of(of))
}

// Widen sets to to the two float32 in the lower half of a, or in the upper one, as float64.
func Widen(f *Function, a V, upper bool, to V) {
	code, name, of := uint32(0x0E617800), "FCVTL", "2S"
	if upper {
		code, name, of = 0x4E617800, "FCVTL2", "4S"
	}
	f.word(code|uint32(a)<<5|uint32(to), fmt.Sprintf("%s V%d.2D, V%d.%s", name, to, a, of))
}

// WidenInts sets to to the two int32 in the lower half of a, or in the upper one, as float64.
func WidenInts(f *Function, a V, upper bool, to V) {
	code, name, of := uint32(0x0F20A400), "SXTL", "2S"
	if upper {
		code, name, of = 0x4F20A400, "SXTL2", "4S"
	}
	f.word(code|uint32(a)<<5|uint32(to), fmt.Sprintf("%s V%d.2D, V%d.%s", name, to, a, of))
	f.word(0x4E61D800|uint32(to)<<5|uint32(to), fmt.Sprintf("SCVTF V%d.2D, V%d.2D", to, to))
}

// Greatest sets the lowest 32 bits of to to the greatest of the four elements of a, as integers without sign.
func Greatest(f *Function, a, to V) {
	f.word(0x6EB0A800|uint32(a)<<5|uint32(to), fmt.Sprintf("UMAXV S%d, V%d.4S", to, a))
}

// Zero sets all bits of registers to 0.
func Zero(f *Function, registers ...V) {
	for _, v := range registers {
		f.I("VEOR", v.Of("B16"), v.Of("B16"), v.Of("B16"))
	}
}

// Broadcast sets all elements of a register to the one in memory at a register.
func (l Lanes) Broadcast(f *Function, from G, to V) {
	f.I("VLD1R", fmt.Sprintf("(%s)", from), fmt.Sprintf("[%s]", to.Of(l.Arrangement())))
}

// BroadcastArg sets all elements of a register to a field of the struct of arguments or to a parameter.
func (l Lanes) BroadcastArg(f *Function, name string, to V) {
	from := ""
	if f.fields == nil {
		from = f.Place(name)
	} else {
		from = f.Field(name)
	}
	f.I(l.One("FMOV"), from, to)
	f.I("VDUP", l.Element(to, 0), to.Of(l.Arrangement()))
}

var typeV = regexp.MustCompile(`\bV\b`)

// Func is the function Func with the type of an element for V in the signature.
func (l Lanes) Func(name, signature string, doc ...string) *Function {
	return Func(name, typeV.ReplaceAllString(signature, l.Type()), doc...)
}

// Least sets the four elements of to to the lesser ones of a and b, as int32.
func Least(f *Function, a, b, to V) { int32s(f, 0x4EA06C00, "SMIN", a, b, to) }

// Most sets the four elements of to to the greater ones of a and b, as int32.
func Most(f *Function, a, b, to V) { int32s(f, 0x4EA06400, "SMAX", a, b, to) }

func int32s(f *Function, code uint32, name string, a, b, to V) {
	f.word(code|uint32(b)<<16|uint32(a)<<5|uint32(to), fmt.Sprintf("%s V%d.4S, V%d.4S, V%d.4S", name, to, a, b))
}

// LeastOf sets the lowest 32 bits of to to the least of the four elements of a, as int32.
func LeastOf(f *Function, a, to V) {
	f.word(0x4EB1A800|uint32(a)<<5|uint32(to), fmt.Sprintf("SMINV S%d, V%d.4S", to, a))
}

// MostOf is LeastOf for the greatest.
func MostOf(f *Function, a, to V) {
	f.word(0x4EB0A800|uint32(a)<<5|uint32(to), fmt.Sprintf("SMAXV S%d, V%d.4S", to, a))
}
