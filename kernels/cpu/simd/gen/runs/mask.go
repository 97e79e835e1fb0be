package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// mask is the lanes that take part: an opmask with AVX-512, else a register whose lanes
// have all bits set or none.
type mask struct {
	k     OpmaskVirtual
	all   VecVirtual
	table Register   // the masks as registers, a byte for each lane
	old   VecVirtual // elements of y before a piece is added
	// aside is what is jumped to: parts of pieces at the end of y.
	aside []func()
}

func (k *kernel) newMask() {
	if k.l.Opmasks() {
		k.mask.k = K()
		return
	}
	k.all, k.table = k.l.Reg(), GP64()
	if k.transposed {
		k.old = k.l.Reg()
	}
	LEAQ(NewDataAddr(Symbol{Name: maskTable(k.l.Count()), Static: true}, 0), k.table)
}

func maskTable(lanes int) string { return fmt.Sprintf("masksOf%d", lanes) }

// defineMasks defines the data of masks.
func defineMasks() {
	for _, n := range []int{4, 8} {
		GLOBL(maskTable(n), RODATA|NOPTR)
		for m := range 1 << n {
			for i := range n {
				DATA(m*n+i, U8(0xFF*(m>>i&1)))
			}
		}
	}
}

// setMask sets the mask to the bits of m.
func (k *kernel) setMask(m GPVirtual) {
	if k.l.Opmasks() {
		KMOVB(m.As32(), k.mask.k)
		return
	}
	at := Mem{Base: k.table, Index: m, Scale: uint8(k.l.Count())}
	lanes.Pick(k.l, VPMOVSXBQ, VPMOVSXBD)(at, k.all)
}

// elements is where the elements of x or y for a piece begin.
func (k *kernel) elements() Mem {
	at := GP64()
	MOVLQSX(Mem{Base: k.columns}, at)
	return Mem{Base: k.x, Index: at, Scale: uint8(k.l.Size())}
}

// load loads the elements of the mask. With AVX2 the other lanes are 0, or elements of y as
// well, where y has all lanes of the piece. To load under a mask takes AMD's processors several
// times as long there.
func (k *kernel) load(x Mem) {
	switch {
	case k.l.Opmasks():
		k.l.LoadMasked(x, k.mask.k, k.xs)
	case k.transposed:
		k.whole(x, func() { k.l.Load(x, k.old) }, func() { k.l.LoadMasked(x, k.all, k.old) })
		VMOVAPS(k.old, k.xs)
	default:
		k.whole(x, func() { VANDPS(x, k.all, k.xs) }, func() { k.l.LoadMasked(x, k.all, k.xs) })
	}
}

// store stores the elements of the mask. With AVX2 it stores those that load has loaded,
// the others as they were.
func (k *kernel) store(x Mem) {
	if k.l.Opmasks() {
		k.l.StoreMasked(k.xs, k.mask.k, x)
		return
	}
	lanes.Pick(k.l, VBLENDVPD, VBLENDVPS)(k.all, k.xs, k.old, k.xs)
	k.whole(x, func() { k.l.Store(k.xs, x) }, func() { k.l.StoreMasked(k.xs, k.all, x) })
}

// whole does one thing where x or y has all lanes of the piece, and else another.
func (k *kernel) whole(x Mem, do, other func()) {
	n := len(k.aside)
	aside, back := fmt.Sprintf("aside%d", n), fmt.Sprintf("back%d", n)
	CMPQ(x.Index, lanes.Arg("last"))
	JG(LabelRef(aside))
	do()
	Label(back)
	k.aside = append(k.aside, func() {
		Label(aside)
		other()
		JMP(LabelRef(back))
	})
}

// ones is a register that has the value of all entries in the lanes of the mask, and with
// AVX2 zeros in the others.
func (k *kernel) ones() Op {
	if k.l.Opmasks() {
		return k.one
	}
	v := k.l.Reg()
	VANDPS(k.one, k.all, v)
	return v
}

// fma adds the products of the lanes of the mask to the sum of a row, or those of its
// factor to the elements of y. With AVX2 the values in other lanes are finite: these are
// multiplied by the zeros that load has left in x, or added to lanes that store leaves out.
func (k *kernel) fma(val Op, row VecVirtual) {
	by, to := k.xs, row
	if k.transposed {
		by, to = row, k.xs
	}
	k.product(val, by, to)
}

// fmaApart is fma where rows have masks of their own. With AVX2 zeros are added in other
// lanes.
func (k *kernel) fmaApart(val Op, row VecVirtual) {
	by, to := k.xs, row
	if k.transposed {
		by, to = row, k.xs
	}
	if !k.l.Opmasks() {
		t := k.l.Reg()
		VANDPS(by, k.all, t)
		by = t
	}
	k.product(val, by, to)
}

func (k *kernel) product(val Op, by, to VecVirtual) {
	if k.l.Opmasks() {
		k.l.FMAMasked(val, by, k.mask.k, to)
	} else {
		k.l.FMA(val, by, to)
	}
}
