package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Operations on one element, the lowest of a register. What is loaded has zeros beside it.

// MoveOne loads or stores an element.
func (l Lanes) MoveOne(from, to Op) { Pick(l, VMOVSD, VMOVSS)(from, to) }

// AddOne is dst = a + b. a may be memory.
func (l Lanes) AddOne(a, b, dst Op) { Pick(l, VADDSD, VADDSS)(a, b, dst) }

// MulOne is dst = a*b. a may be memory.
func (l Lanes) MulOne(a, b, dst Op) { Pick(l, VMULSD, VMULSS)(a, b, dst) }

// FMAOne adds a*b to acc, with one rounding. a may be memory.
func (l Lanes) FMAOne(a, b, acc Op) { Pick(l, VFMADD231SD, VFMADD231SS)(a, b, acc) }
