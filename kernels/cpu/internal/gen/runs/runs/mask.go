package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// mask selects lanes: a mask register with AVX-512, otherwise a register with lanes of all ones or
// all zeros.
type mask struct {
	k     OpmaskVirtual
	all   VecVirtual
	table Register   // table of masks, a byte per lane
	old   VecVirtual // elements of y before a piece is added
	// aside has code for pieces at the end of x or y, which is generated after the function.
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

// defineMasks defines the table of masks.
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

// elements returns the memory of the elements of x or y of a piece.
func (k *kernel) elements() Mem {
	at := GP64()
	MOVLQSX(Mem{Base: k.columns}, at)
	return Mem{Base: k.x, Index: at, Scale: uint8(k.l.Size())}
}

// load loads the elements of the mask. With AVX2 the other lanes are 0, or elements of y if y has
// all lanes of the piece: masked loads take several times as long on AMD.
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

// store stores the elements of the mask. With AVX2 it stores the other elements as load has loaded
// them.
func (k *kernel) store(x Mem) {
	if k.l.Opmasks() {
		k.l.StoreMasked(k.xs, k.mask.k, x)
		return
	}
	lanes.Pick(k.l, VBLENDVPD, VBLENDVPS)(k.all, k.xs, k.old, k.xs)
	k.whole(x, func() { k.l.Store(k.xs, x) }, func() { k.l.StoreMasked(k.xs, k.all, x) })
}

// whole generates do for pieces with all lanes in x or y, and other for the rest.
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

// ones returns the value of all entries in the lanes of the mask; with AVX2 zeros in the others.
func (k *kernel) ones() Op {
	if k.l.Opmasks() {
		return k.one
	}
	v := k.l.Reg()
	VANDPS(k.one, k.all, v)
	return v
}

// fma adds the products of the lanes of the mask to the sum of a row, or to the elements of y. With
// AVX2 the values in other lanes are finite: they are multiplied by zeros of x, or added to lanes
// that store restores.
func (k *kernel) fma(val Op, row VecVirtual) {
	by, to := k.xs, row
	if k.transposed {
		by, to = row, k.xs
	}
	k.product(val, by, to)
}

// fmaApart is fma for rows with different masks. With AVX2 it adds zeros in other lanes.
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
