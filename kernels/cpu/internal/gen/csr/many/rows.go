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
// for more lines at a time than the first-level cache, and near entries earlier for the first-level
// cache. Indices and values are prefetched by streams entries: the hardware prefetcher stops at
// pages, and prefetching a row of x needs its index.
const (
	farBytes = 256 * 64
	near     = 16
	streams  = 512
)

// rows generates the kernel of RowsMany for up to maxVectors registers of columns, the last of
// which may be filled in part.
//
// It adds four entries of a row at a time (two with more than two registers), each to its own sums,
// because an addition has the latency of eight loads. The last entries are added in the same order
// by all paths. An index that is not less than rowsX, or a pointer that decreases or leaves idx,
// ends the call after the rows before it.
func rows(p lanes.Part) {
	name := "many" + p.Suffix()
	p.Func(name, "func(alpha, beta V, ptr []int64, idx []int32, val, x, y []V, rowsX, ldx, ldy, vectors, last, prefetchEnd int, across, stream, near, predicted bool) (done int)",
		"computes RowsMany and returns the number of rows before the first one with an index or a pointer out of range:",
		"",
		"\tfor r := range len(ptr) - 1 {",
		"\t\ty[r][j] = alpha * sum over ptr[r] <= k < ptr[r+1] of val[k-ptr[0]]*x[idx[k-ptr[0]]][j] + beta*y[r][j]",
		"\t}",
		"",
		"A row has vectors registers, the last one with last elements; rows are ldx and ldy bytes apart. With stream y is written",
		"past the caches: beta is 0, registers are full, and y is aligned. Rows of x are prefetched for entries k < prefetchEnd; with",
		"across they may touch one more line. With near nothing is prefetched. predicted selects branches for the last entries of",
		"a row, otherwise masks.")

	k, most := begin(p), maxVectors
	if p.Masked || p.Half {
		most = 1 // more columns use a longer register
	}
	for v := 1; v < most; v++ {
		CMPQ(lanes.Arg("vectors"), Imm(uint64(v)))
		JEQ(LabelRef(label("row", v)))
	}
	for v := most; v > 0; v-- {
		k.rows(v)
	}
	Label("out")
	DECQ(k.r)
	Store(k.r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// kernel has the arguments and the state of a kernel.
type kernel struct {
	lanes.Part
	ptr, x, y     Register
	n, ldx        Register
	k             GPVirtual // next entry
	idx, val, end Register  // as Entries and end return them
	alpha, beta   VecVirtual
	readsY        GPVirtual      // 0 if beta is 0 or -0
	r             GPVirtual      // index in ptr of the end of the next row
	sums          [][]VecVirtual // one row of registers for each entry that is added at a time
}

// begin loads the arguments.
func begin(p lanes.Part) *kernel {
	k := &kernel{Part: p}
	k.ptr = Load(Param("ptr").Base(), GP64())
	k.x = Load(Param("x").Base(), GP64())
	k.y = Load(Param("y").Base(), GP64())
	k.n = Load(Param("rowsX"), GP64())
	k.ldx = Load(Param("ldx"), GP64())
	k.k = GP64()
	MOVQ(Mem{Base: k.ptr}, k.k)
	k.idx, k.val = p.Entries(k.k)
	k.end = end(k.k)
	k.SetMask(Load(Param("last"), GP64()))
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
	k.r = GP64()
	MOVQ(U32(1), k.r)
	return k
}

// rows generates the loop over all rows with v registers of columns.
func (k *kernel) rows(v int) {
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
	CMPQ(k.r, lanes.Place(Param("ptr").Len()))
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
func (k *kernel) entries(left GPVirtual, v int) {
	n := len(k.sums)
	SUBQ(Imm(uint64(n)), left)
	JL(LabelRef(label("few", v)))
	CMPB(lanes.Arg("near"), Imm(0))
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
		CMPB(lanes.Arg("predicted"), Imm(0))
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
func (k *kernel) fma(j int, m Mem, f, acc VecVirtual) {
	if j == len(k.sums[0])-1 {
		k.FMAPart(m, f, acc)
	} else {
		k.FMA(m, f, acc)
	}
}

// entry adds the product of entry k+i to a row of sums.
func (k *kernel) entry(i, to int) {
	g, f := GP64(), k.Reg()
	MOVL(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: 4 * i}, g.As32())
	k.Broadcast(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: k.Size() * i}, f)
	k.add(g, f, to)
}

// several adds the products of len(k.sums) entries, each to its own row of sums. It loads two
// indices at a time, and four values at a time in longer registers, because loads limit it.
func (k *kernel) several() {
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
func (k *kernel) add(g GPVirtual, f VecVirtual, to int) {
	CMPQ(g, k.n)
	JAE(LabelRef("out"))
	IMULQ(k.ldx, g)
	for j, a := range k.sums[to] {
		k.fma(j, Mem{Base: k.x, Index: g, Scale: 1, Disp: j * k.Bytes()}, f, a)
	}
}

// prefetch prefetches the rows of x of n later entries, and later entries. Labels begin with name.
func (k *kernel) prefetch(name string, v, n int) {
	PREFETCHT1(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: streams * k.Size()})
	PREFETCHT1(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: streams * 4})
	far := farBytes / max(v*k.Bytes(), 64)
	g := GP64()
	LEAQ(Mem{Base: k.k, Disp: far + n - 1}, g)
	CMPQ(g, lanes.Arg("prefetchEnd"))
	JGE(LabelRef(label(name+"prefetched", v)))
	CMPB(lanes.Arg("across"), Imm(0))
	JNE(LabelRef(label(name+"across", v)))
	k.prefetchRows(v, n, false)
	JMP(LabelRef(label(name+"prefetched", v)))
	Label(label(name+"across", v))
	k.prefetchRows(v, n, true)
	Label(label(name+"prefetched", v))
}

// prefetchRows prefetches the rows of x of n later entries; with across also the line in which a
// row ends.
func (k *kernel) prefetchRows(v, n int, across bool) {
	far := farBytes / max(v*k.Bytes(), 64)
	for i := range n {
		for _, to := range []struct {
			ahead    int
			prefetch func(Op)
		}{{far, PREFETCHT1}, {near, PREFETCHT0}} {
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
func (k *kernel) finish(v int) {
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
	CMPB(lanes.Arg("stream"), Imm(0))
	JNE(LabelRef(label("stream", v)))
	if !k.Opmasks() {
		CMPQ(lanes.Arg("last"), Imm(uint64(k.Count())))
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
	ADDQ(lanes.Arg("ldy"), k.y)
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
func end(first Register) Register {
	end := Load(Param("idx").Len(), GP64())
	ADDQ(first, end)
	return end
}
