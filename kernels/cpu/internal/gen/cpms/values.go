package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// values describes the values of the entries.
type values struct {
	name   string
	size   int   // bytes of a segment, 8 for plain values, 0 if all are 1
	read   int   // number of segments read
	widths []int // widths of the vectors for which there are kernels
}

var allValues = []values{
	{"Ones", 0, 0, widths},
	{"Plain", 8, 1, widths},
	{"1of2", 4, 1, []int{4, 8}},
	{"2of2", 4, 2, []int{8}},
	{"1of4", 2, 1, []int{2, 8}},
	{"2of4", 2, 2, []int{4, 8}},
	{"3of4", 2, 3, []int{6, 8}},
	{"4of4", 2, 4, []int{8}},
}

// begin loads the addresses of the segments from the parameters val and step.
func (v values) begin() (seg []Register) {
	if v.size == 0 {
		return nil
	}
	val := Load(Param("val"), GP64())
	if v.read == 1 {
		return []Register{val}
	}
	return v.places(val, Load(Param("step"), GP64()))
}

// places returns the addresses of the segments: first, and the others step bytes apart.
func (v values) places(first, step Register) []Register {
	seg := []Register{first}
	for s := 1; s < v.read; s++ {
		next := GP64()
		LEAQ(Mem{Base: seg[s-1], Index: step, Scale: 1}, next)
		seg = append(seg, next)
	}
	return seg
}

// at returns segment s of entry k+i.
func (v values) at(seg []Register, s int, k Register, i int) Mem {
	return Mem{Base: seg[s], Index: k, Scale: uint8(v.size), Disp: i * v.size}
}

// shift returns the position of segment s in a value.
func (v values) shift(s int) uint64 { return uint64(64 - 8*v.size*(s+1)) }

// load returns a register of values from entry k+i on, or their memory.
func (v values) load(l lanes.Lanes, seg []Register, k Register, i int) Op {
	if v.size == 8 {
		return v.at(seg, 0, k, i)
	}
	var all VecVirtual
	for s := range v.read {
		part := l.Reg()
		if v.size == 4 {
			VPMOVZXDQ(v.at(seg, s, k, i), part)
		} else {
			VPMOVZXWQ(v.at(seg, s, k, i), part)
		}
		if shift := v.shift(s); shift > 0 {
			VPSLLQ(Imm(shift), part, part)
		}
		if s == 0 {
			all = part
		} else {
			VORPD(part, all, all)
		}
	}
	return all
}

// loadOne is load for a single value.
func (v values) loadOne(seg []Register, k Register) Op {
	if v.size == 8 {
		return v.at(seg, 0, k, 0)
	}
	var all GPVirtual
	for s := range v.read {
		part := GP64()
		lanes.LoadIndex(v.size, v.at(seg, s, k, 0), part)
		if shift := v.shift(s); shift > 0 {
			SHLQ(Imm(shift), part)
		}
		if s == 0 {
			all = part
		} else {
			ORQ(part, all)
		}
	}
	x := XMM()
	VMOVQ(all, x)
	return x
}

// prefetch prefetches later segments.
func (v values) prefetch(seg []Register, k Register) {
	for s := range seg {
		PREFETCHT0(Mem{Base: seg[s], Index: k, Scale: uint8(v.size), Disp: ahead})
	}
}
