package main

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

// neonSet is NEON.
type neonSet struct{ neon.Lanes }

func (neonSet) sumsOfFour() bool { return false }

// neonLoop has the state of a kernel. An instruction loads or stores two registers: for even k, get loads those of
// k and k+1, and store waits for that of k+1.
type neonLoop struct {
	neon.Lanes
	f       *neon.Function
	vectors map[string]neon.G    // the address of the group, or with moves of the next pair of registers
	moves   bool                 // the last access to a pair moves the address past it
	changed map[string]bool      // vectors that are stored
	loaded  map[string][2]neon.V // the pair of each vector
	waiting map[string]neon.V    // registers of k that are stored with those of k+1
	sums    map[string][]neon.V
	names   []string // of the sums, in the order of the arguments
	scratch []string // names of the registers that times returned
	number  int      // of these
}

func newNeonLoop(l neon.Lanes, f *neon.Function, moves bool) *neonLoop {
	return &neonLoop{Lanes: l, f: f, moves: moves, vectors: map[string]neon.G{}, changed: map[string]bool{},
		loaded: map[string][2]neon.V{}, waiting: map[string]neon.V{}, sums: map[string][]neon.V{}}
}

func (s neonSet) begin(name, doc string, numbers, vectors, sums []string) (loop, []Op) {
	f := s.Func(name+s.Suffix(), signature(numbers, vectors, sums), doc)
	p := newNeonLoop(s.Lanes, f, true)
	f.Load("n")
	for _, v := range vectors {
		p.vectors[v] = f.Load(v)
	}
	var numberRegs []Op
	for _, v := range numbers {
		s.BroadcastArg(f, v, f.V(v))
		numberRegs = append(numberRegs, f.V(v))
	}
	for _, v := range sums {
		p.loadSums(v, f.Load(v), group)
	}
	return p, numberRegs
}

// loadSums loads n elements.
func (p *neonLoop) loadSums(name string, from neon.G, n int) {
	p.names = append(p.names, name)
	for k := 0; k < n/p.Count(); k += 2 {
		a, b := p.f.V(fmt.Sprint(name, ":", k)), p.f.V(fmt.Sprint(name, ":", k+1))
		p.f.I("FLDPQ", neon.Mem(from, 16*k), neon.Pair(a, b))
		p.sums[name] = append(p.sums[name], a, b)
	}
}

// storeSums stores the elements that loadSums has loaded.
func (p *neonLoop) storeSums(name string, to neon.G) {
	for k := 0; k < len(p.sums[name]); k += 2 {
		p.f.I("FSTPQ", neon.Pair(p.sums[name][k], p.sums[name][k+1]), neon.Mem(to, 16*k))
	}
}

func (p *neonLoop) rounds(do func(k int)) {
	left := p.f.G("n")
	p.f.Label("loop")
	p.group(group/p.Count(), do)
	p.f.I("SUBS", "$1", left, left)
	p.f.I("BNE", "loop")
	for _, name := range p.names {
		p.storeSums(name, p.f.G(name))
	}
	p.f.Ret()
}

// group calls do for count registers. A first call without effect finds the vectors that are stored.
func (p *neonLoop) group(count int, do func(k int)) {
	all := func() {
		for k := range count {
			do(k)
			p.f.FreeV(p.scratch...)
			p.scratch = p.scratch[:0]
			if k%2 == 0 {
				continue
			}
			for _, v := range slices.Sorted(maps.Keys(p.loaded)) {
				p.f.FreeV(v+" 0", v+" 1")
			}
			clear(p.loaded)
		}
	}
	p.f.Dry(all)
	all()
}

// access writes a load or a store of the pair that ends with register k.
func (p *neonLoop) access(instruction, vector string, k int, pair string, last bool) {
	place := neon.Mem(p.vectors[vector], 16*(k&^1))
	if p.moves {
		place = neon.Mem(p.vectors[vector], 0)
		if last {
			instruction, place = instruction+".P", neon.Mem(p.vectors[vector], 32)
		}
	}
	if instruction[:3] == "FLD" {
		p.f.I(instruction, place, pair)
	} else {
		p.f.I(instruction, pair, place)
	}
}

func (p *neonLoop) get(vector string, k int) Op {
	pair, ok := p.loaded[vector]
	if !ok {
		pair = [2]neon.V{p.f.V(vector + " 0"), p.f.V(vector + " 1")}
		p.loaded[vector] = pair
		if isInts(vector) {
			p.f.I("FMOVQ.P", neon.Mem(p.vectors[vector], 16), pair[0])
			neon.WidenInts(p.f, pair[0], true, pair[1])
			neon.WidenInts(p.f, pair[0], false, pair[0])
			return pair[k%2]
		}
		p.access("FLDPQ", vector, k, neon.Pair(pair[0], pair[1]), !p.changed[vector])
	}
	return pair[k%2]
}

func (p *neonLoop) mem(vector string, k int) Op { return p.get(vector, k) }

func (p *neonLoop) store(v Op, vector string, k int) {
	p.changed[vector] = true
	from := v.(neon.V)
	for i, name := range p.scratch { // it stays until both are stored
		if p.f.V(name) == from {
			p.scratch = append(p.scratch[:i], p.scratch[i+1:]...)
			p.f.RenameV(name, fmt.Sprint(vector, " stored ", k%2))
			break
		}
	}
	if k%2 == 0 {
		p.waiting[vector] = from
		return
	}
	p.access("FSTPQ", vector, k, neon.Pair(p.waiting[vector], from), true)
	for i := range 2 {
		if name := fmt.Sprint(vector, " stored ", i); p.f.HasV(name) {
			p.scratch = append(p.scratch, name) // free after k
		}
	}
}

func (p *neonLoop) times(a, b Op) Op {
	p.number++
	name := fmt.Sprint("product ", p.number)
	p.scratch = append(p.scratch, name)
	p.Mul(p.f, a.(neon.V), b.(neon.V), p.f.V(name))
	return p.f.V(name)
}

func (p *neonLoop) multiply(a, b, to Op) { p.Mul(p.f, a.(neon.V), b.(neon.V), to.(neon.V)) }

func (p *neonLoop) add(a, b, to Op) { p.Add(p.f, a.(neon.V), b.(neon.V), to.(neon.V)) }

func (p *neonLoop) subtract(a, b, to Op) { p.Sub(p.f, b.(neon.V), a.(neon.V), to.(neon.V)) }

func (p *neonLoop) sum(name string, k int, a, b Op) {
	s := p.sums[name][k]
	p.Add(p.f, p.times(a, b).(neon.V), s, s)
}

func (s neonSet) many(name, doc string, factors, vectors []string, sums bool, do func(p loop, k int, f []Op)) {
	f := s.Func(name+s.Suffix(), signatureMany(factors, vectors, sums), doc)
	p := newNeonLoop(s.Lanes, f, false)
	stride, left, rows := f.Load("parts"), f.G("left"), f.Load("n")
	strips := f.G("strips")
	f.I("LSR", "$4", stride, strips)
	f.I("LSL", "$3", stride, stride)
	base := map[string]neon.G{}
	for _, v := range factors {
		base[v] = f.Load(v)
	}
	for _, v := range vectors {
		base[v], p.vectors[v] = f.Load(v), f.G(v+" of a row")
	}
	if sums {
		base["sums"] = f.Load("sums")
	}
	count := strip / s.Count()
	f.Label("strip")
	with := make([][]Op, count)
	for _, v := range factors {
		p.loadSums(v, base[v], strip)
		for k, r := range p.sums[v] {
			with[k] = append(with[k], r)
		}
	}
	if sums {
		p.loadSums("sums", base["sums"], strip)
	}
	f.I("MOVD", rows, left)
	for _, v := range vectors {
		f.I("MOVD", base[v], p.vectors[v])
	}
	f.Label("loop")
	p.group(count, func(k int) { do(p, k, with[k]) })
	for _, v := range vectors {
		f.I("ADD", stride, p.vectors[v], p.vectors[v])
	}
	f.I("SUBS", "$1", left, left)
	f.I("BNE", "loop")
	if sums {
		p.storeSums("sums", base["sums"])
	}
	for _, v := range slices.Sorted(maps.Keys(base)) {
		f.I("ADD", neon.Imm(8*strip), base[v], base[v])
	}
	f.I("SUBS", "$1", strips, strips)
	f.I("BNE", "strip")
	f.Ret()
}

func (s neonSet) scaleMany(name string, doc ...string) {
	f := s.Func(name+s.Suffix(), "func(n int, m int, d *V, r *V, z *V)", doc...)
	rows, m, d, r, z := f.Load("n"), f.Load("m"), f.Load("d"), f.Load("r"), f.Load("z")
	row, from, to, left := f.G("row"), f.G("from"), f.G("to"), f.G("left")
	factor, a, b := f.V("factor"), f.V("a"), f.V("b")
	f.I("LSL", "$3", m, row)
	f.Label("row")
	f.I("VLD1R.P", fmt.Sprintf("8(%s)", d), fmt.Sprintf("[%s]", factor.Of("D2")))
	f.I("MOVD", r, from)
	f.I("MOVD", z, to)
	f.I("MOVD", m, left)
	f.Label("loop")
	f.I("FLDPQ.P", neon.Mem(from, 32), neon.Pair(a, b))
	s.Mul(f, a, factor, a)
	s.Mul(f, b, factor, b)
	f.I("FSTPQ.P", neon.Pair(a, b), neon.Mem(to, 32))
	f.I("SUBS", "$4", left, left)
	f.I("BGT", "loop")
	f.I("ADD", row, r, r)
	f.I("ADD", row, z, z)
	f.I("SUBS", "$1", rows, rows)
	f.I("BNE", "row")
	f.Ret()
}
