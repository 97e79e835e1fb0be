// Command bins generates the assembly of both passes over bins.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	for _, storage := range []string{"Full", "Short", "Same"} {
		multiply(double, storage)
		multiplyTwo(double, storage)
		spread(double, storage)
	}
	for _, storage := range []string{"Full", "Same"} {
		multiply(single, storage)
		multiplyTwo(single, storage)
		spread(single, storage)
	}
	for _, e := range []elem{double, single} {
		copies(e)
		copiesOfTwo(e)
		addRuns(e)
	}
	Generate()
}

// elem is float64 or float32.
type elem struct{ lanes.Lanes }

var double, single = elem{lanes.Lanes{Double: true}}, elem{}

const (
	line     = 64
	register = 32
	// ahead is the number of lines by which the streams are prefetched, because the hardware
	// prefetcher stops at pages. The lines go to the second-level cache: the first-level cache
	// waits for few lines at a time.
	ahead = 128
)

// gather fills a register with the elements of x with the indices at numbers.
func gather(e elem, x Register, numbers Mem) VecVirtual {
	return e.Gather(x, func(lane int, to GPVirtual) { MOVWLZX(numbers.Offset(2*lane), to.As32()) })
}

// perLine returns the number of elements of a line.
func (e elem) perLine() int { return line / e.Size() }

// run loads the address of the elements of the next run (each elements per entry) and the number of
// lines of its entries, and advances runs. Then JZ jumps if there are no lines.
func (e elem) run(runs, elements Register, each int, at, left GPVirtual) {
	MOVL(Mem{Base: runs}, at.As32())
	MOVL(Mem{Base: runs, Disp: 4}, left.As32())
	ADDQ(Imm(8), runs)
	SHLQ(Imm(uint64(5+each)), at) // each is 1 or 2
	ADDQ(elements, at)
	ADDQ(Imm(uint64(e.perLine()-1)), left)
	SHRQ(Imm(map[int]uint64{8: 3, 16: 4}[e.perLine()]), left)
}

// prefetchNext prefetches lines of the data of the next call.
func prefetchNext(lines int, next, end Register) {
	CMPQ(next, end)
	JAE(LabelRef("prefetched"))
	for i := range lines {
		PREFETCHT1(Mem{Base: next, Disp: line * i})
	}
	ADDQ(Imm(uint64(line*lines)), next)
	Label("prefetched")
}

// entries are the columns or the rows of entries, and their values, line by line.
type entries struct {
	elem
	storage         string // storage of the values, empty if there are none
	numbers, values Register
	width           int // bytes of a value; 0 if none is read
	same            VecVirtual
}

func newEntries(e elem, storage string, numbers, values Register) *entries {
	s := &entries{elem: e, storage: storage, numbers: numbers, values: values}
	switch storage {
	case "Same":
		s.same = YMM()
		e.Broadcast(Mem{Base: values}, s.same)
	case "Short":
		s.width = 4
	case "Full":
		s.width = e.Size()
	}
	return s
}

// prefetch prefetches the line that is ahead lines later.
func (s *entries) prefetch() {
	PREFETCHT1(Mem{Base: s.numbers, Disp: 2 * s.perLine() * ahead})
	if s.width > 0 {
		PREFETCHT1(Mem{Base: s.values, Disp: s.width * s.perLine() * ahead})
	}
}

// register returns register r of the values of the line.
func (s *entries) register(r int) Op {
	from := Mem{Base: s.values, Disp: s.width * register / s.Size() * r}
	switch s.storage {
	case "Same":
		return s.same
	case "Short":
		wide := YMM()
		VCVTPS2PD(from, wide)
		return wide
	default:
		return from
	}
}

// advance moves to the next line.
func (s *entries) advance() {
	ADDQ(Imm(uint64(2*s.perLine())), s.numbers)
	if s.width > 0 {
		ADDQ(Imm(uint64(s.width*s.perLine())), s.values)
	}
}

// copies generates the first pass.
func copies(e elem) {
	name := "copyBins" + e.Suffix()
	e.Func(name, "func(to, x *V, columns *uint16, runs *uint32, n int, next *V, lines int)",
		"copies, for n successive runs,",
		"",
		"\tfor _, r := range runs { // r is the first line, then the number of entries",
		"\t\tfor i := range slots(r) { // whole lines",
		"\t\t\tto[r.line*lineLen+i] = x[columns[0]]",
		"\t\t\tcolumns = columns[1:]",
		"\t\t}",
		"\t}",
		"",
		"with stores past the caches. For each line it prefetches a line of 64 bytes from next on, lines in all.")
	to := Load(Param("to"), GP64())
	x := Load(Param("x"), GP64())
	entries := newEntries(e, "", Load(Param("columns"), GP64()), nil)
	runs := Load(Param("runs"), GP64())
	n := Load(Param("n"), GP64())
	next := Load(Param("next"), GP64())
	end := Load(Param("lines"), GP64())
	SHLQ(Imm(6), end)
	ADDQ(next, end)
	e.eachLine(1, runs, n, to, next, end, func(at Register) { entries.copyLine(x, at) })
}

// eachLine generates the loop over the lines of entries of n runs: for each it prefetches lines
// lines from next on and calls write for as many lines of elements. It ends the function.
func (e elem) eachLine(lines int, runs, n, to, next, end Register, write func(at Register)) {
	at, left := GP64(), GP64()
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("run")
	e.run(runs, to, lines, at, left)
	JZ(LabelRef("ran"))
	Label("line")
	prefetchNext(lines, next, end)
	write(at)
	ADDQ(Imm(uint64(lines*line)), at)
	DECQ(left)
	JNZ(LabelRef("line"))
	Label("ran")
	DECQ(n)
	JNZ(LabelRef("run"))
	Label("done")
	VZEROUPPER()
	RET()
}

// copyLine writes the elements of x of a line of entries.
func (s *entries) copyLine(x, to Register) {
	s.prefetch()
	for r := range line / register {
		s.Stream(s.gather(r, x), Mem{Base: to, Disp: register * r})
	}
	s.advance()
}

// gather returns register r of the elements of x of a line of entries.
func (s *entries) gather(r int, x Register) VecVirtual {
	return gather(s.elem, x, Mem{Base: s.numbers, Disp: 2 * register / s.Size() * r})
}
