// Package lanes generates the common parts of kernels: arguments, loads of values and of x, and
// products with and without a mask, in 128 to 512 bits, for float64 and float32.
package lanes

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Lanes is a kind of register.
type Lanes struct {
	Double bool // float64, otherwise float32
	Long   bool // 512 bits, otherwise 256
	Half   bool // 128 bits; not with Long
	Masked bool // not with Long: uses mask registers of AVX-512
}

// All returns the registers of 256 and 512 bits.
func All() []Lanes {
	return []Lanes{{Double: true}, {Double: true, Long: true}, {}, {Long: true}}
}

// Halves returns the registers of 128 bits.
func Halves() []Lanes { return []Lanes{{Double: true, Half: true}, {Half: true}} }

// ShortMasked returns the registers of 256 and 128 bits with mask registers of AVX-512.
func ShortMasked() (all []Lanes) {
	for _, double := range []bool{true, false} {
		all = append(all, Lanes{Double: double, Masked: true}, Lanes{Double: double, Masked: true, Half: true})
	}
	return all
}

// Opmasks reports whether masks are in mask registers.
func (l Lanes) Opmasks() bool { return l.Long || l.Masked }

// Suffix returns the end of the names of functions: F64AVX2, ...
func (l Lanes) Suffix() string {
	level := "AVX2"
	switch {
	case l.Long:
		level = "AVX512"
	case l.Half && l.Masked:
		level = "AVX512Quarter"
	case l.Half:
		level = "AVX2Half"
	case l.Masked:
		level = "AVX512Half"
	}
	return l.TypeName() + level
}

// TypeName returns the type of an element in the names of functions.
func (l Lanes) TypeName() string { return fmt.Sprintf("F%d", 8*l.Size()) }

// Type returns the type of an element in Go.
func (l Lanes) Type() string { return fmt.Sprintf("float%d", 8*l.Size()) }

// Pick returns double for float64 and single for float32, as a rule instructions.
func Pick[I any](l Lanes, double, single I) I {
	if l.Double {
		return double
	}
	return single
}

// Size returns the bytes of an element.
func (l Lanes) Size() int {
	if l.Double {
		return 8
	}
	return 4
}

// Bytes returns the bytes of a register.
func (l Lanes) Bytes() int {
	switch {
	case l.Long:
		return 64
	case l.Half:
		return 16
	}
	return 32
}

// Count returns the number of elements of a register.
func (l Lanes) Count() int { return l.Bytes() / l.Size() }

// Reg returns a new register.
func (l Lanes) Reg() VecVirtual {
	switch {
	case l.Long:
		return ZMM()
	case l.Half:
		return XMM()
	}
	return YMM()
}

// Zero sets v = 0.
func (l Lanes) Zero(v VecVirtual) { VXORPS(v.AsX(), v.AsX(), v.AsX()) }

// Load loads a register.
func (l Lanes) Load(m Mem, v VecVirtual) { Pick(l, VMOVUPD, VMOVUPS)(m, v) }

// Store stores a register.
func (l Lanes) Store(v VecVirtual, m Mem) { Pick(l, VMOVUPD, VMOVUPS)(v, m) }

// Stream stores a register past the caches. m is aligned to the register.
func (l Lanes) Stream(v VecVirtual, m Mem) { Pick(l, VMOVNTPD, VMOVNTPS)(v, m) }

// Broadcast fills v with one element.
func (l Lanes) Broadcast(m Mem, v VecVirtual) {
	switch {
	case l.Double && l.Half:
		VMOVDDUP(m, v)
	default:
		Pick(l, VBROADCASTSD, VBROADCASTSS)(m, v)
	}
}

// FMA computes acc += a*b. a may be memory.
func (l Lanes) FMA(a Op, b, acc VecVirtual) { Pick(l, VFMADD231PD, VFMADD231PS)(a, b, acc) }

// Add computes dst = a + b. a may be memory.
func (l Lanes) Add(a Op, b, dst VecVirtual) { Pick(l, VADDPD, VADDPS)(a, b, dst) }

// Mul computes dst = a*b. a may be memory.
func (l Lanes) Mul(a Op, b, dst VecVirtual) { Pick(l, VMULPD, VMULPS)(a, b, dst) }

// NaN returns a register filled with the NaN that every device stores: quiet, without a payload.
func (l Lanes) NaN() VecVirtual {
	v := l.Reg()
	l.Fill(Pick[uint64](l, 0x7FF8000000000000, 0x7FC00000), v)
	return v
}

// Quiet replaces each NaN of v by nan.
func (l Lanes) Quiet(nan, v VecVirtual) {
	const unordered = 3
	if l.Long {
		k := K()
		Pick(l, VCMPPD, VCMPPS)(Imm(unordered), v, v, k)
		Pick(l, VMOVAPD, VMOVAPS)(nan, k, v)
		return
	}
	t := l.Reg()
	Pick(l, VCMPPD, VCMPPS)(Imm(unordered), v, v, t)
	Pick(l, VBLENDVPD, VBLENDVPS)(t, nan, v, v)
}

// IsZero sets the flags for JE if an argument is +0 (not -0).
func (l Lanes) IsZero(arg Mem) { Pick(l, CMPQ, CMPL)(arg, Imm(0)) }

// Gather loads x[index(lane)] for every lane, element by element: on Zen 4 this takes half the time
// of the gather instruction, elsewhere about the same. index generates the load of the index of a
// lane.
func (l Lanes) Gather(x Register, index func(lane int, to GPVirtual)) VecVirtual {
	return l.GatherFrom(func(lane int) Mem {
		g := GP64()
		index(lane, g)
		return Mem{Base: x, Index: g, Scale: uint8(l.Size())}
	})
}

// GatherFrom loads the element at at(lane) for every lane, like Gather.
func (l Lanes) GatherFrom(at func(lane int) Mem) VecVirtual {
	perX := 16 / l.Size()
	quarter := func(q int) VecVirtual {
		v := XMM()
		if l.Double {
			VMOVSD(at(2*q), v)
			VMOVHPD(at(2*q+1), v, v)
			return v
		}
		VMOVSS(at(4*q), v)
		for i := 1; i < perX; i++ {
			VINSERTPS(Imm(uint64(i<<4)), at(4*q+i), v, v)
		}
		return v
	}
	half := func(h int) VecVirtual {
		lo, hi := quarter(2*h), quarter(2*h+1)
		VINSERTF128(Imm(1), hi, lo.AsY(), lo.AsY())
		return lo
	}
	lo := half(0)
	if !l.Long {
		return lo.AsY().(VecVirtual)
	}
	hi := half(1)
	VINSERTF64X4(Imm(1), hi.AsY(), lo.AsZ(), lo.AsZ())
	return lo.AsZ().(VecVirtual)
}

// Merger returns GatherFrom for doubles in 512 bits with a third fewer operations: loads fill all
// lanes of 256 bits and keep one.
func (l Lanes) Merger() func(at func(lane int) Mem) VecVirtual {
	var only [4]OpmaskVirtual
	for lane := 1; lane < len(only); lane++ {
		g := GP32()
		MOVL(U32(1<<lane), g)
		only[lane] = K()
		KMOVW(g, only[lane])
	}
	return func(at func(lane int) Mem) VecVirtual {
		half := func(first int) VecVirtual {
			v := YMM()
			VMOVSD(at(first), v.AsX())
			for lane := 1; lane < len(only); lane++ {
				VBROADCASTSD(at(first+lane), only[lane], v)
			}
			return v
		}
		lo, hi := half(0), half(4)
		VINSERTF64X4(Imm(1), hi, lo.AsZ(), lo.AsZ())
		return lo.AsZ().(VecVirtual)
	}
}

// LoadIndex loads an unsigned number of 2 or 4 bytes.
func LoadIndex(bytes int, from Mem, to GPVirtual) {
	if bytes == 2 {
		MOVWLZX(from, to.As32())
	} else {
		MOVL(from, to.As32())
	}
}

// ShortIndices returns a function that returns the index of a lane. Indices have 2 bytes and are
// loaded four at a time, because loads limit kernels. The function must be called for pairs of
// lanes, 0 and 1, 2 and 3, in any order of pairs; in ascending order two pairs take one load.
func ShortIndices(at func(lane int) Mem) func(lane int) GPVirtual {
	var rest GPVirtual // the index of the lane before, and those after it
	before := -1
	return func(lane int) GPVirtual {
		switch {
		case lane%4 == 0:
			rest = GP64()
			MOVQ(at(lane), rest)
		case lane == before+1:
			SHRQ(Imm(16), rest)
		default:
			rest = GP64()
			MOVL(at(lane), rest.As32())
		}
		before = lane
		if lane%4 == 3 {
			return rest
		}
		g := GP64()
		MOVWLZX(rest.As16(), g.As32())
		return g
	}
}

// AddEach adds each lane of v to the element at its place in memory, one after the other, because
// lanes may have the same place.
func (l Lanes) AddEach(v VecVirtual, place func(lane int) Mem) {
	perQuarter := 16 / l.Size()
	for q := range l.Bytes() / 16 {
		quarter := l.Quarter(v, q)
		for i := range perQuarter {
			own := quarter
			if i > 0 {
				own = XMM()
				VPSRLDQ(Imm(uint64(i*l.Size())), quarter, own)
			}
			to, sum := place(q*perQuarter+i), XMM()
			l.AddOne(to, own, sum)
			l.MoveOne(sum, to)
		}
	}
}

// StoreEach stores each lane of v at its place in memory.
func (l Lanes) StoreEach(v VecVirtual, place func(lane int) Mem) {
	for q := range l.Bytes() / 16 {
		part := l.Quarter(v, q)
		if l.Double {
			VMOVSD(part, place(2*q))
			VMOVHPD(part, place(2*q+1))
			continue
		}
		VMOVSS(part, place(4*q))
		for i := 1; i < 4; i++ {
			VEXTRACTPS(Imm(uint64(i)), part, place(4*q+i))
		}
	}
}

// Quarter returns 128 bits of a register.
func (l Lanes) Quarter(v VecVirtual, q int) Register {
	if q == 0 {
		return v.AsX()
	}
	part := XMM()
	if l.Long {
		VEXTRACTF64X2(Imm(uint64(q)), v, part)
	} else {
		VEXTRACTF128(Imm(uint64(q)), v, part)
	}
	return part
}
