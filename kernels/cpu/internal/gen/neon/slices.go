package neon

import "fmt"

// Registers is the number of registers of the lanes of a slice: 8 of float64, or 16 of float32.
const Registers = 4

// Slice returns the registers name0, name1, ... of the lanes of a slice.
func (f *Function) Slice(name string) (all [Registers]V) {
	for i := range all {
		all[i] = f.V(fmt.Sprint(name, i))
	}
	return all
}

// SliceLanes returns the number of rows of a slice.
func (l Lanes) SliceLanes() int { return Registers * l.Count() }

// Values is a way to store values, one of those of package form.
type Values struct {
	Name string
	// Begin loads what stays in registers. table has the address of the table.
	Begin func(l Lanes, f *Function, table G)
	// Column returns the values of the lanes of a column at val and moves val past them.
	Column func(l Lanes, f *Function, val G) [Registers]V
	// One returns the value of one lane. It is called for all lanes in their order, and moves val past the column in
	// the first call. The register of an even lane holds up to the next call for an even lane.
	One func(l Lanes, f *Function, val G, lane int) V
}

// Full has values as they are.
var Full = Values{"Full", nothing, func(l Lanes, f *Function, val G) [Registers]V {
	v := f.Slice("value")
	f.I("FLDPQ.P", Mem(val, 64), Pair(v[0], v[1]))
	f.I("FLDPQ", Mem(val, -32), Pair(v[2], v[3]))
	return v
}, func(l Lanes, f *Function, val G, lane int) V {
	return f.pairOf(l.One("FLDP"), val, lane, l.Size(), l.SliceLanes())
}}

// pairOf returns the element of a lane. For even lanes it loads two elements of size bytes; for lane 0 it moves from
// past all lanes.
func (f *Function) pairOf(load string, from G, lane, size, lanes int) V {
	pair := [2]V{f.V("value0"), f.V("value1")}
	switch {
	case lane == 0:
		f.I(load+".P", Mem(from, size*lanes), Pair(pair[0], pair[1]))
	case lane%2 == 0:
		f.I(load, Mem(from, size*(lane-lanes)), Pair(pair[0], pair[1]))
	}
	return pair[lane%2]
}

// Short has float64 values as float32.
var Short = Values{"Short", nothing, func(l Lanes, f *Function, val G) [Registers]V {
	v := f.Slice("value")
	f.I("FLDPQ.P", Mem(val, 32), Pair(v[0], v[2]))
	for i := 0; i < Registers; i += 2 {
		Widen(f, v[i], true, v[i+1])
		Widen(f, v[i], false, v[i])
	}
	return v
}, func(l Lanes, f *Function, val G, lane int) V {
	v := f.pairOf("FLDPS", val, lane, 4, l.SliceLanes())
	f.I("FCVTSD", v, v)
	return v
}}

// Table has a code of 4 bits for each value, with the places that form.Values.nibble has.
var Table = Values{"Table", nothing, func(l Lanes, f *Function, val G) [Registers]V {
	v, one := f.Slice("value"), f.V("one value")
	for lane := range l.SliceLanes() {
		register, element := v[lane/l.Count()], lane%l.Count()
		if element == 0 {
			fromTable(l, f, val, lane, register)
			continue
		}
		fromTable(l, f, val, lane, one)
		f.I("VMOV", l.Element(one, 0), l.Element(register, element))
	}
	return v
}, func(l Lanes, f *Function, val G, lane int) V {
	fromTable(l, f, val, lane, f.V("value0"))
	return f.V("value0")
}}

// fromTable loads the value of a lane. For lane 0 it first loads the codes of all lanes and moves val past them.
func fromTable(l Lanes, f *Function, val G, lane int, to V) {
	codes, code, place := f.G("codes"), f.G("t"), lane
	if l.SliceLanes() == 16 {
		place = lane%2*8 + lane/2
	}
	switch {
	case lane == 0 && l.SliceLanes() == 16:
		f.I("MOVD.P", Mem(val, 8), codes)
	case lane == 0:
		f.I("MOVWU.P", Mem(val, 4), codes)
	}
	f.I("UBFX", Imm(4*place), codes, "$4", code)
	f.I(l.One("FMOV"), At(f.G("table"), code, l.Shift()), to)
}

// Same has one value for all.
var Same = Values{"Same", func(l Lanes, f *Function, table G) { l.Broadcast(f, table, f.V("same")) }, func(l Lanes, f *Function, val G) [Registers]V {
	v := f.V("same")
	return [Registers]V{v, v, v, v}
}, func(l Lanes, f *Function, val G, lane int) V { return f.V("same") }}

func nothing(Lanes, *Function, G) {}

// ValuesOf returns the ways to store values of a type.
func ValuesOf(l Lanes) []Values {
	if l.Double {
		return []Values{Full, Short, Table, Same}
	}
	return []Values{Full, Table, Same}
}

// Gather loads the elements of x for the lanes of a column whose indices, of indexBytes bytes each, are at idx, and
// moves idx past them. An instruction loads 4 or 8 indices. Indices of 4 bytes must be below 1<<29.
func (l Lanes) Gather(f *Function, idx, x G, indexBytes int) [Registers]V {
	to, t := f.Slice("x"), f.G("t")
	bytes := indexBytes * l.SliceLanes()
	// index is the register in whose lower half the index of a lane is, or in its upper half.
	type index struct {
		in    G
		upper bool
	}
	var indices []index
	words := [2]G{f.G("word0"), f.G("word1")}
	even, odd := [2]G{f.G("even0"), f.G("even1")}, [2]G{f.G("odd0"), f.G("odd1")}
	// load loads 16 bytes of indices from byte at on.
	load := func(at int) {
		indices = indices[:0]
		if at == 0 {
			f.I("LDP.P", Mem(idx, bytes), Pair(words[0], words[1]))
		} else {
			f.I("LDP", Mem(idx, at-bytes), Pair(words[0], words[1]))
		}
		for i, w := range words {
			if indexBytes == 4 {
				indices = append(indices, index{w, false}, index{w, true})
				continue
			}
			f.I("AND", w, f.G("halves"), even[i])
			f.I("AND", w+">>16", f.G("halves"), odd[i])
			indices = append(indices, index{even[i], false}, index{odd[i], false}, index{even[i], true}, index{odd[i], true})
		}
	}
	shift := l.Shift()
	for lane := range l.SliceLanes() {
		if at := lane * indexBytes; at%16 == 0 {
			load(at)
		}
		i := indices[lane*indexBytes%16/indexBytes]
		register, element := to[lane/l.Count()], lane%l.Count()
		if element == 0 && !i.upper {
			f.I(l.One("FMOV"), fmt.Sprintf("(%s)(%s.UXTW<<%d)", x, i.in, shift), register)
			continue
		}
		if i.upper {
			f.I("ADD", fmt.Sprintf("%s>>%d", i.in, 32-shift), x, t)
		} else {
			f.I("ADD", fmt.Sprintf("%s.UXTW<<%d", i.in, shift), x, t)
		}
		if element == 0 {
			f.I(l.One("FMOV"), Mem(t, 0), register)
		} else {
			f.I("VLD1", Mem(t, 0), l.Element(register, element))
		}
	}
	return to
}

// BeginGather loads what Gather needs in a register for indices of 2 bytes.
func BeginGather(f *Function, indexBytes int) {
	if indexBytes == 2 {
		f.I("MOVD", "$0x0000FFFF0000FFFF", f.G("halves"))
	}
}

// BeginMask loads the bits of lanes that Mask compares.
func (l Lanes) BeginMask(f *Function) {
	t := f.G("t")
	for i, v := range f.Slice("bits") {
		for element := range l.Count() {
			f.I("MOVD", Imm(1<<(i*l.Count()+element)), t)
			f.I("VMOV", t, l.Element(v, element))
		}
	}
}

// Mask returns registers in which the lanes of the mask of 16 bits at from have ones, and the others zeros. It moves
// from past the mask.
func (l Lanes) Mask(f *Function, from G) [Registers]V {
	t, all, masks := f.G("t"), f.V("all"), f.Slice("mask")
	of := l.Arrangement()
	f.I("MOVHU.P", Mem(from, 2), t)
	f.I("VDUP", t, all.Of(of))
	for i, bits := range f.Slice("bits") {
		f.I("VCMTST", all.Of(of), bits.Of(of), masks[i].Of(of))
	}
	return masks
}

// FMASlice adds a*b to the sums of the lanes.
func (l Lanes) FMASlice(f *Function, a, b, sums [Registers]V) {
	for i := range sums {
		l.FMA(f, a[i], b[i], sums[i])
	}
}

// FMAMasked adds a*b to the sums of the lanes in masks; the others do not change, whatever a and b are.
func (l Lanes) FMAMasked(f *Function, masks, a, b, sums [Registers]V) {
	t := f.V("sum")
	for i, s := range sums {
		f.I("VORR", s.Of("B16"), s.Of("B16"), t.Of("B16"))
		l.FMA(f, a[i], b[i], t)
		f.I("VBIT", masks[i].Of("B16"), t.Of("B16"), s.Of("B16"))
	}
}

// BeginQuiet loads the quiet NaN.
func (l Lanes) BeginQuiet(f *Function) {
	t := f.G("t")
	if l.Double {
		f.I("MOVD", "$0x7FF8000000000000", t)
	} else {
		f.I("MOVD", "$0x7FC00000", t)
	}
	f.I("VDUP", t, f.V("nan").Of(l.Arrangement()))
}

// Quiet replaces NaNs by the quiet NaN without a payload.
func (l Lanes) Quiet(f *Function, v V) {
	t := f.V("sum")
	l.Equal(f, v, v, t)
	f.I("VBIF", t.Of("B16"), f.V("nan").Of("B16"), v.Of("B16"))
}

// LoadSlice loads the lanes of a slice and StoreSlice stores them. Both move the address past them.
func LoadSlice(f *Function, from G, to [Registers]V) {
	f.I("FLDPQ.P", Mem(from, 64), Pair(to[0], to[1]))
	f.I("FLDPQ", Mem(from, -32), Pair(to[2], to[3]))
}

// StoreSlice is the reverse of LoadSlice.
func StoreSlice(f *Function, v [Registers]V, to G) {
	f.I("FSTPQ.P", Pair(v[0], v[1]), Mem(to, 64))
	f.I("FSTPQ", Pair(v[2], v[3]), Mem(to, -32))
}
