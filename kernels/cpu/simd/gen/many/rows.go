package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// maxVectors is how many registers of one row of y are summed at once: two sums
// of each, and the rest for factors.
const maxVectors = 4

// A row of x is asked for twice: farBytes of rows before its turn for the second
// cache, which waits for more lines at a time than the first, and near entries before
// it for the first. Indices and values are asked for streams entries ahead: the processor's
// own asking stops at pages, and the index of each row of x that is asked for must be there.
const (
	farBytes = 256 * 64
	near     = 16
	streams  = 512
)

// rows generates the kernel of RowsMany for up to maxVectors registers of columns,
// the last of which may be filled in part.
//
// Four entries of a row are taken at a time, or two where these are more registers than two, in sums of
// their own: sums wait for each other as long as eight loads take. See byFour for the last ones, which are
// added in the same order whatever way they go. An index that is not below rowsX, and a pointer that
// falls or leaves idx, end the call with the rows done before.
func rows(p lanes.Part) {
	name := "many" + p.Suffix()
	p.Func(name, "func(alpha, beta V, ptr []int64, idx []int32, val, x, y []V, rowsX, ldx, ldy, vectors, last, asks int, across, stream, near, known bool) (done int)",
		"is RowsMany for columns that fill vectors registers, last elements of",
		"the last one, as far as indices and pointers are in range: it gives the number of",
		"rows done, len(ptr)-1 at most. ldx and ldy are bytes. With stream y is written",
		"around the caches: beta must be 0, all registers filled, and y aligned to them.",
		"Rows of x are brought to the cache for entries below asks, as ptr counts; with across they",
		"may lie across lines. With near nothing is brought there, with known branches tell the last entries",
		"of a row.")

	k, most := begin(p), maxVectors
	if p.Masked || p.Half {
		most = 1 // more fill a longer register
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

// kernel is where the arguments and the state of a kernel are.
type kernel struct {
	lanes.Part
	ptr, x, y     Register
	n, ldx        Register
	k             GPVirtual // the next entry
	idx, val, end Register  // as Entries and end give them
	alpha, beta   VecVirtual
	readsY        GPVirtual      // 0 for beta = 0 and -0
	r             GPVirtual      // the end of the next row in ptr
	sums          [][]VecVirtual // one row of registers for each entry that is taken at a time
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

// rows goes through all rows with v registers of columns.
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

// entries adds the left entries of a row, as many at a time as there are sums, and then the last ones.
func (k *kernel) entries(left GPVirtual, v int) {
	n := len(k.sums)
	SUBQ(Imm(uint64(n)), left)
	JL(LabelRef(label("few", v)))
	CMPB(lanes.Arg("near"), Imm(0))
	JNE(LabelRef(label("near", v)))
	for _, loop := range []string{"far", "near"} {
		Label(label(loop, v))
		if loop == "far" {
			k.ask(loop, v, n)
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
		CMPB(lanes.Arg("known"), Imm(0))
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

// fma adds the product of register j of a row in memory and a factor.
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

// several adds the products of as many entries as there are rows of sums, each to one. Of their indices it loads
// two at a time, and of values that fill longer registers four: loads are what it has most of.
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

// add adds the product of the row of x that g numbers, which is lost, and f to a row of sums.
func (k *kernel) add(g GPVirtual, f VecVirtual, to int) {
	CMPQ(g, k.n)
	JAE(LabelRef("out"))
	IMULQ(k.ldx, g)
	for j, a := range k.sums[to] {
		k.fma(j, Mem{Base: k.x, Index: g, Scale: 1, Disp: j * k.Bytes()}, f, a)
	}
}

// ask brings the rows of x of n later entries to the caches, and the entries after these. name
// is for its label.
func (k *kernel) ask(name string, v, n int) {
	PREFETCHT1(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: streams * k.Size()})
	PREFETCHT1(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: streams * 4})
	far := farBytes / max(v*k.Bytes(), 64)
	g := GP64()
	LEAQ(Mem{Base: k.k, Disp: far + n - 1}, g)
	CMPQ(g, lanes.Arg("asks"))
	JGE(LabelRef(label(name+"asked", v)))
	CMPB(lanes.Arg("across"), Imm(0))
	JNE(LabelRef(label(name+"across", v)))
	k.askRows(v, n, false)
	JMP(LabelRef(label(name+"asked", v)))
	Label(label(name+"across", v))
	k.askRows(v, n, true)
	Label(label(name+"asked", v))
}

// askRows asks for the rows of x of n later entries, with across also for where their last register ends.
func (k *kernel) askRows(v, n int, across bool) {
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

// finish stores a row and goes on to the next.
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
	if !k.Opmasks() { // whose stores under a mask take long
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

// label numbers a label.
func label(name string, i int) string { return fmt.Sprintf("%s%d", name, i) }

// end is the entry behind all, as ptr counts, where first is the first one.
func end(first Register) Register {
	end := Load(Param("idx").Len(), GP64())
	ADDQ(first, end)
	return end
}
