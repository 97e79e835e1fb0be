package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Operations on one element, the lowest of a register. Loads clear the others.

// MoveOne loads or stores an element.
func (l Lanes) MoveOne(from, to Op) { Pick(l, VMOVSD, VMOVSS)(from, to) }

// AddOne computes dst = a + b. a may be memory.
func (l Lanes) AddOne(a, b, dst Op) { Pick(l, VADDSD, VADDSS)(a, b, dst) }

// MulOne computes dst = a*b. a may be memory.
func (l Lanes) MulOne(a, b, dst Op) { Pick(l, VMULSD, VMULSS)(a, b, dst) }

// FMAOne computes acc += a*b, rounded once. a may be memory.
func (l Lanes) FMAOne(a, b, acc Op) { Pick(l, VFMADD231SD, VFMADD231SS)(a, b, acc) }

// Elements returns the elements of 256 bits, each as the lowest of a register. v is overwritten.
func (l Lanes) Elements(v VecVirtual) (all []VecVirtual) {
	high := XMM()
	VEXTRACTF128(Imm(1), v, high)
	for _, half := range []VecVirtual{v.AsX().(VecVirtual), high} {
		others := []VecVirtual{half}
		for i := 1; i < 16/l.Size(); i++ {
			x := XMM()
			if l.Double {
				VUNPCKHPD(half, half, x)
			} else {
				VPERMILPS(Imm(uint64(i)), half, x)
			}
			others = append(others, x)
		}
		all = append(all, others...)
	}
	return all
}

// AddTo adds the element at from to that at to.
func AddTo(l Lanes, from, to Mem) {
	one := XMM()
	l.MoveOne(from, one)
	l.AddOne(to, one, one)
	l.MoveOne(one, to)
}
