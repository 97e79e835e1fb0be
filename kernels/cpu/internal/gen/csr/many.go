package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// maxVectors is the greatest number of registers of one row of y that are summed at once: two sums
// of each, and the rest for factors.
const maxVectors = 4

// A row of x is prefetched twice: farBytes of rows earlier for the second-level cache, which waits
// for more lines at a time than the first-level cache, and manyNear entries earlier for the first-level
// cache. Indices and values are prefetched by streams entries: the hardware prefetcher stops at
// pages, and prefetching a row of x needs its index.
const (
	farBytes = 256 * 64
	manyNear = 16
	streams  = 512
)

// many generates the kernel of RowsMany for up to maxVectors registers of columns, the last of
// which may be filled in part.
//
// It adds four entries of a row at a time (two with more than two registers), each to its own sums,
// because an addition has the latency of eight loads. The last entries are added in the same order
// by all paths. An index that is not less than rowsX, or a pointer that decreases or leaves idx,
// ends the call after the rows before it.
func many(p lanes.Part) {
	name := "many" + p.Suffix()
	p.Func(name, "func(a *manyArgs[V])",
		"computes RowsMany, and sets a.pointers to 1 more than the number of rows before the first one with an index or a pointer out",
		"of range:",
		"",
		"\tfor r := range a.pointers - 1 {",
		"\t\tvar sums [columns]V",
		"\t\tfor k := a.ptr[r] - a.ptr[0]; k < a.ptr[r+1]-a.ptr[0]; k++ {",
		"\t\t\tfor j := range sums {",
		"\t\t\t\tsums[j] += a.val[k] * a.x[a.idx[k]][j]",
		"\t\t\t}",
		"\t\t}",
		"\t\tfor j, sum := range sums {",
		"\t\t\ta.y[r][j] = a.alpha*sum + a.beta*a.y[r][j]",
		"\t\t}",
		"\t}")

	k, most := beginMany(p), maxVectors
	if p.Masked || p.Half {
		most = 1 // more columns use a longer register
	}
	for v := 1; v < most; v++ {
		CMPQ(k.kept["vectors"], Imm(uint64(v)))
		JEQ(LabelRef(label("row", v)))
	}
	for v := most; v > 0; v-- {
		k.rows(v)
	}
	Label("out")
	MOVQ(k.r, lanes.Arg("pointers"))
	VZEROUPPER()
	RET()
}

// manyRower has the arguments and the state of a kernel.
type manyRower struct {
	lanes.Part
	kept          map[string]Mem // arguments that the loops read from memory
	ptr, x, y     Register
	n, ldx        Register
	k             GPVirtual // next entry
	idx, val, end Register  // as Entries and end return them
	alpha, beta   VecVirtual
	readsY        GPVirtual      // 0 if beta is 0 or -0
	r             GPVirtual      // index in ptr of the end of the next row
	sums          [][]VecVirtual // one row of registers for each entry that is added at a time
}

// beginMany loads the arguments.
func beginMany(p lanes.Part) *manyRower {
	k := &manyRower{Part: p}
	a := lanes.Args("ptr", "pointers", "idx", "entries", "val", "x", "y", "rowsX", "ldx", "ldy", "vectors", "last", "prefetchEnd",
		"across", "stream", "near", "predicted", "alpha", "beta")
	k.kept = map[string]Mem{}
	for _, name := range []string{"pointers", "ldy", "vectors", "last", "prefetchEnd", "across", "stream", "near", "predicted"} {
		k.kept[name] = keep(a, name)
	}
	k.ptr, k.x, k.y, k.n, k.ldx = a.Load("ptr"), a.Load("x"), a.Load("y"), a.Load("rowsX"), a.Load("ldx")
	k.k = GP64()
	MOVQ(Mem{Base: k.ptr}, k.k)
	k.idx, k.val = p.Entries(a, k.k)
	k.end = end(a, k.k)
	k.SetMask(a.Load("last"))
	k.alpha, k.beta = p.Reg(), p.Reg()
	p.Broadcast(lanes.Arg("alpha"), k.alpha)
	p.Broadcast(lanes.Arg("beta"), k.beta)
	k.readsY = GP64()
	if p.Double {
		MOVQ(lanes.Arg("beta"), k.readsY)
		ADDQ(k.readsY, k.readsY)
	} else {
		MOVL(lanes.Arg("beta"), k.readsY.As32())
		ADDL(k.readsY.As32(), k.readsY.As32())
	}
	a.Release()
	k.r = GP64()
	MOVQ(U32(1), k.r)
	return k
}

// rows generates the loop over all rows with v registers of columns.
func (k *manyRower) rows(v int) {
	k.sums = make([][]VecVirtual, 4)
	if v > 2 {
		k.sums = k.sums[:2]
	}
	for i := range k.sums {
		for range v {
			k.sums[i] = append(k.sums[i], k.Reg())
		}
	}
	Label(label("row", v))
	CMPQ(k.r, k.kept["pointers"])
	JGE(LabelRef("out"))
	left := GP64()
	MOVQ(Mem{Base: k.ptr, Index: k.r, Scale: 8}, left)
	CMPQ(left, k.end)
	JG(LabelRef("out"))
	SUBQ(k.k, left)
	JL(LabelRef("out"))
	for i := range k.sums {
		for _, a := range k.sums[i] {
			k.Zero(a)
		}
	}
	k.entries(left, v)
	Label(label("finish", v))
	k.finish(v)
}

// entries adds the left entries of a row, len(k.sums) at a time, then the last ones.
func (k *manyRower) entries(left GPVirtual, v int) {
	n := len(k.sums)
	SUBQ(Imm(uint64(n)), left)
	JL(LabelRef(label("few", v)))
	CMPB(k.kept["near"], Imm(0))
	JNE(LabelRef(label("near", v)))
	for _, loop := range []string{"far", "near"} {
		Label(label(loop, v))
		if loop == "far" {
			k.prefetch(loop, v, n)
		}
		k.several()
		SUBQ(Imm(uint64(n)), left)
		JGE(LabelRef(label(loop, v)))
		if loop == "far" {
			JMP(LabelRef(label("few", v)))
		}
	}
	Label(label("few", v))
	if v*k.Bytes() <= 64 {
		CMPB(k.kept["predicted"], Imm(0))
		JNE(LabelRef(label("fewLeft", v)))
		k.underMasks(left, v)
	}
	Label(label("fewLeft", v))
	ADDQ(Imm(uint64(n)), left)
	for i := range n - 1 {
		JZ(LabelRef(label("finish", v)))
		k.entry(0, i)
		INCQ(k.k)
		DECQ(left)
	}
}

// fma adds the product of f and register j of a row in memory.
func (k *manyRower) fma(j int, m Mem, f, acc VecVirtual) {
	if j == len(k.sums[0])-1 {
		k.FMAPart(m, f, acc)
	} else {
		k.FMA(m, f, acc)
	}
}

// entry adds the product of entry k+i to a row of sums.
func (k *manyRower) entry(i, to int) {
	g, f := GP64(), k.Reg()
	MOVL(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: 4 * i}, g.As32())
	k.Broadcast(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: k.Size() * i}, f)
	k.add(g, f, to)
}

// several adds the products of len(k.sums) entries, each to its own row of sums. It loads two
// indices at a time, and four values at a time in longer registers, because loads limit it.
func (k *manyRower) several() {
	n := len(k.sums)
	var all VecVirtual
	if n == 4 && !(k.Double && k.Half) {
		all = k.Four(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size())})
	}
	for i := 0; i < n; i += 2 {
		g, next := GP64(), GP64()
		MOVQ(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: 4 * i}, next)
		MOVL(next.As32(), g.As32())
		SHRQ(Imm(32), next)
		for j, g := range []GPVirtual{g, next} {
			var f VecVirtual
			if all != nil {
				f = k.OneOfFour(all, i+j)
			} else {
				f = k.Reg()
				k.Broadcast(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: k.Size() * (i + j)}, f)
			}
			k.add(g, f, i+j)
		}
	}
	ADDQ(Imm(uint64(n)), k.k)
}

// add adds the product of f and the row of x with index g to a row of sums. g is overwritten.
func (k *manyRower) add(g GPVirtual, f VecVirtual, to int) {
	CMPQ(g, k.n)
	JAE(LabelRef("out"))
	IMULQ(k.ldx, g)
	for j, a := range k.sums[to] {
		k.fma(j, Mem{Base: k.x, Index: g, Scale: 1, Disp: j * k.Bytes()}, f, a)
	}
}

// prefetch prefetches the rows of x of n later entries, and later entries. Labels begin with name.
func (k *manyRower) prefetch(name string, v, n int) {
	PREFETCHT1(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: streams * k.Size()})
	PREFETCHT1(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: streams * 4})
	far := farBytes / max(v*k.Bytes(), 64)
	g := GP64()
	LEAQ(Mem{Base: k.k, Disp: far + n - 1}, g)
	CMPQ(g, k.kept["prefetchEnd"])
	JGE(LabelRef(label(name+"prefetched", v)))
	CMPB(k.kept["across"], Imm(0))
	JNE(LabelRef(label(name+"across", v)))
	k.prefetchRows(v, n, false)
	JMP(LabelRef(label(name+"prefetched", v)))
	Label(label(name+"across", v))
	k.prefetchRows(v, n, true)
	Label(label(name+"prefetched", v))
}

// prefetchRows prefetches the rows of x of n later entries; with across also the line in which a
// row ends.
func (k *manyRower) prefetchRows(v, n int, across bool) {
	far := farBytes / max(v*k.Bytes(), 64)
	for i := range n {
		for _, to := range []struct {
			ahead    int
			prefetch func(Op)
		}{{far, PREFETCHT1}, {manyNear, PREFETCHT0}} {
			g := GP64()
			MOVL(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: 4 * (to.ahead + i)}, g.As32())
			IMULQ(k.ldx, g)
			for j := 0; j < v*k.Bytes(); j += 64 {
				to.prefetch(Mem{Base: k.x, Index: g, Scale: 1, Disp: j})
			}
			if across {
				to.prefetch(Mem{Base: k.x, Index: g, Scale: 1, Disp: v*k.Bytes() - 1})
			}
		}
	}
}

// finish stores a row and jumps to the next one.
func (k *manyRower) finish(v int) {
	at := func(j int) Mem { return Mem{Base: k.y, Disp: j * k.Bytes()} }
	for j, a := range k.sums[0] {
		k.Add(k.sums[1][j], a, a)
		if len(k.sums) > 2 {
			k.Add(k.sums[3][j], k.sums[2][j], k.sums[2][j])
			k.Add(k.sums[2][j], a, a)
		}
		k.Mul(k.alpha, a, a)
	}
	TESTQ(k.readsY, k.readsY)
	JZ(LabelRef(label("overwrite", v)))
	for j, a := range k.sums[0] {
		k.fma(j, at(j), k.beta, a)
	}
	Label(label("overwrite", v))
	CMPB(k.kept["stream"], Imm(0))
	JNE(LabelRef(label("stream", v)))
	if !k.Opmasks() {
		CMPQ(k.kept["last"], Imm(uint64(k.Count())))
		JEQ(LabelRef(label("whole", v)))
	}
	for j, a := range k.sums[0] {
		if j == v-1 {
			k.StorePart(a, at(j))
		} else {
			k.Store(a, at(j))
		}
	}
	Label(label("next", v))
	INCQ(k.r)
	ADDQ(k.kept["ldy"], k.y)
	JMP(LabelRef(label("row", v)))
	if !k.Opmasks() { // masked stores are slow
		Label(label("whole", v))
		for j, a := range k.sums[0] {
			k.Store(a, at(j))
		}
		JMP(LabelRef(label("next", v)))
	}
	Label(label("stream", v))
	for j, a := range k.sums[0] {
		k.Stream(a, at(j))
	}
	JMP(LabelRef(label("next", v)))
}

// label returns a label with a number.
func label(name string, i int) string { return fmt.Sprintf("%s%d", name, i) }

// end returns the index after the last entry, in the count of ptr; first is the first entry.
func end(a *lanes.Arguments, first Register) Register {
	end := a.Load("entries")
	ADDQ(first, end)
	return end
}
