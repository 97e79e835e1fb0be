package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// same multiplies a piece of rows with equal columns.
func (k *kernel) same(rows int) {
	m, step := GP64(), GP64()
	MOVBLZX(Mem{Base: k.masks}, m.As32())
	INCQ(k.masks)
	k.setMask(m)
	POPCNTL(m.As32(), step.As32())
	SHLQ(Imm(k.shift()), step) // bytes of a row of the piece
	x := k.elements()
	k.load(x)
	// times has the multiples of step that are in registers.
	times := map[int]GPVirtual{1: step}
	place := func(n int) Mem {
		if n == 0 {
			return Mem{Base: k.val}
		}
		for _, scale := range []int{1, 2, 4, 8} {
			if g, ok := times[n/scale]; ok && n%scale == 0 {
				return Mem{Base: k.val, Index: g, Scale: uint8(scale)}
			}
		}
		g := GP64()
		if n == 7 {
			LEAQ(Mem{Base: times[3], Index: step, Scale: 4}, g)
		} else {
			LEAQ(Mem{Base: step, Index: step, Scale: uint8(n - 1)}, g)
		}
		times[n] = g
		return Mem{Base: k.val, Index: g, Scale: 1}
	}
	for r := range rows {
		k.fma(place(r), k.acc[r])
	}
	LEAQ(place(rows), k.val)
	if k.transposed {
		k.store(x)
	}
}

// sameSum is same if all values are equal: all rows have the sum of the first one.
func (k *kernel) sameSum() {
	k.open()
	k.fma(k.ones(), k.acc[0])
}

// sameProduct is sameSum for transposed products.
func (k *kernel) sameProduct() {
	x := k.open()
	k.l.Add(k.acc[0], k.xs, k.xs)
	k.store(x)
}

// open loads the elements of a piece of rows with equal columns and returns their memory.
func (k *kernel) open() (x Mem) {
	m := GP64()
	MOVBLZX(Mem{Base: k.masks}, m.As32())
	INCQ(k.masks)
	k.setMask(m)
	x = k.elements()
	k.load(x)
	return x
}

// masked multiplies a piece in which each row has its own run or none. A run ends at the last bit
// of the mask of the row: its values are loaded to their lanes relative to that bit.
func (k *kernel) masked(rows int) {
	x := k.elements()
	k.l.Load(x, k.xs)
	for r := range rows {
		m := GP64()
		MOVBLZX(Mem{Base: k.masks, Disp: r}, m.As32())
		k.setMask(m)
		if k.one != nil {
			k.fmaApart(k.ones(), k.acc[r])
			continue
		}
		n, ahead := GP64(), GP64()
		POPCNTL(m.As32(), n.As32())
		LZCNTL(m.As32(), ahead.As32()) // includes the bits after the lanes
		LEAQ(Mem{Base: k.val, Index: n, Scale: uint8(k.l.Size())}, k.val)
		k.fmaApart(Mem{Base: k.val, Index: ahead, Scale: uint8(k.l.Size()), Disp: -32 * k.l.Size()}, k.acc[r])
	}
	ADDQ(Imm(uint64(rows)), k.masks)
	if k.transposed {
		k.l.Store(k.xs, x)
	}
}
