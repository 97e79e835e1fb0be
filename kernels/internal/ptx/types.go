package ptx

import "strings"

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
