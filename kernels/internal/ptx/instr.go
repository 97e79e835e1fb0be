package ptx

import (
	"strings"
)

// opcode selects how an instruction is executed.
type opcode uint8

const (
	opUnary opcode = iota // dst = f1(a) in each lane; the next three have more operands
	opBinary
	opTernary
	opQuaternary
	opSetPredicate // predicate dst = test(a, b), combined with another
	opSelect       // dst = pred ? a : b
	opPredicate    // predicate dst = logic(predicates a, b)
	opSpecial      // dst = special register
	opPack         // dst = elements of vec, low one first
	opUnpack       // elements of vec = a
	opLoad
	opStore
	opAtomic
	opShuffle
	opVote
	opMatch
	opActiveMask
	opBarrier
	opWarpBarrier
	opFence
	opBranch
	opJump // to the next basic block, which is elsewhere: not an instruction of the text
	opExit
	opTrap
)

// instr is a decoded instruction. Register operands are indices as in operand.
type instr struct {
	op     opcode
	unless bool  // execute if the guard is false
	guard  int32 // predicate, -1 for none
	dst    int32
	a, b   int32
	c, d   int32
	pred   int32 // source predicate, -1 for none
	target int32 // of a branch: a label during decoding, then an instruction

	alu
	set     *set
	logic   func(a, b uint32) uint32
	special func(w *warp, lane int) uint64
	mem     *access
	sync    *exchange
	vec     []int32 // elements of a vector, -1 for a sink
	size    int     // bytes of an element of vec, or of dst

	line   int32 // in the text
	source source
}

// source is a position in the source of the kernel, from .loc.
type source struct {
	file uint32
	line int32
}

// set holds the operands of setp beyond those of the comparison.
type set struct {
	test    func(a, b uint64) bool
	logic   func(a, b uint32) uint32 // combines the result with pred, or nil
	negated bool                     // pred is negated
	other   int32                    // second destination, or -1
}

// space is a state space.
type space uint8

const (
	genericSpace space = iota
	globalSpace
	constSpace
	sharedSpace
	localSpace
	paramSpace
)

var spaces = map[string]space{
	"global": globalSpace, "const": constSpace, "shared": sharedSpace, "local": localSpace, "param": paramSpace,
}

// access holds the memory operands of ld, st and atom.
type access struct {
	space   space
	size    int  // bytes of an element
	signed  bool // ld: extend the sign to the register
	nc      bool // ld.global.nc
	strong  bool // volatile, relaxed, acquire, release: no race with atomics
	offset  int64
	update  func(old, operand, operand2 uint64) uint64 // atom
	beyond  func(old, operand, operand2 uint64) uint64 // update in global memory
	regSize []int                                      // ld: bytes of each destination register
}

// exchange holds the warp operands of shfl, vote, match and bar.
type exchange struct {
	mode    string
	mask    int32 // operand with the member mask
	result  int32 // second destination: a predicate, or -1
	negated bool  // vote: the predicate is negated
	size    int   // match: bytes of the value
}

// special is a register that the hardware sets.
type special struct {
	size int
	read func(w *warp, lane int) uint64
}

var specials = func() map[string]special {
	t := map[string]special{
		"%laneid":  {4, func(_ *warp, lane int) uint64 { return uint64(lane) }},
		"%warpid":  {4, func(w *warp, _ int) uint64 { return uint64(w.id) }},
		"%nwarpid": {4, func(w *warp, _ int) uint64 { return uint64(len(w.worker.warps)) }},

		"%lanemask_eq": {4, func(_ *warp, l int) uint64 { return 1 << l }},
		"%lanemask_lt": {4, func(_ *warp, l int) uint64 { return 1<<l - 1 }},
		"%lanemask_le": {4, func(_ *warp, l int) uint64 { return 2<<l - 1 }},
		"%lanemask_gt": {4, func(_ *warp, l int) uint64 { return mask(4) &^ (2<<l - 1) }},
		"%lanemask_ge": {4, func(_ *warp, l int) uint64 { return mask(4) &^ (1<<l - 1) }},
	}
	for i, axis := range []string{".x", ".y", ".z"} {
		t["%tid"+axis] = special{4, func(w *warp, lane int) uint64 { return uint64(w.thread(lane)[i]) }}
		t["%ntid"+axis] = special{4, func(w *warp, _ int) uint64 { return uint64(w.worker.run.block[i]) }}
		t["%ctaid"+axis] = special{4, func(w *warp, _ int) uint64 { return uint64(w.worker.block[i]) }}
		t["%nctaid"+axis] = special{4, func(w *warp, _ int) uint64 { return uint64(w.worker.run.grid[i]) }}
	}
	return t
}()

// kind is the interpretation of the bits of a type.
type kind uint8

const (
	bitsKind kind = iota // .b8 to .b64
	unsignedKind
	signedKind
	floatKind
	predKind
)

// typ is a fundamental type of PTX.
type typ struct {
	kind kind
	size int // bytes; 0 for predicates
}

var types = map[string]typ{
	"b8": {bitsKind, 1}, "b16": {bitsKind, 2}, "b32": {bitsKind, 4}, "b64": {bitsKind, 8},
	"u8": {unsignedKind, 1}, "u16": {unsignedKind, 2}, "u32": {unsignedKind, 4}, "u64": {unsignedKind, 8},
	"s8": {signedKind, 1}, "s16": {signedKind, 2}, "s32": {signedKind, 4}, "s64": {signedKind, 8},
	"f32": {floatKind, 4}, "f64": {floatKind, 8},
	"pred": {predKind, 0},
}

// parseType reads a type with or without its dot.
func parseType(s string) (typ, bool) {
	t, ok := types[strings.TrimPrefix(s, ".")]
	return t, ok
}

// align rounds n up to a multiple of to, which is a power of two.
func align(n, to int64) int64 { return (n + to - 1) &^ (to - 1) }

// mask returns a value whose low 8*size bits are set.
func mask(size int) uint64 { return ^uint64(0) >> (64 - 8*size) }

// signExtend widens the low size bytes of v, as a signed number, to 64 bits.
func signExtend(v uint64, size int) uint64 {
	s := 64 - 8*size
	return uint64(int64(v<<s) >> s)
}
