package ptx

import (
	"fmt"
	"math/big"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// number returns v as an integer of a type; wrap returns its low bits.
func number(v uint64, t typ) *big.Int {
	v &= mask(t.size)
	if t.kind == signedKind {
		return big.NewInt(int64(signExtend(v, t.size)))
	}
	return new(big.Int).SetUint64(v)
}

func wrap(v *big.Int, size int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(8*size))
	return new(big.Int).Mod(v, m).Uint64()
}

// integerOps computes the result of each instruction by big integers.
var integerOps = map[string]func(a, b, c *big.Int) *big.Int{
	"add":      func(a, b, _ *big.Int) *big.Int { return new(big.Int).Add(a, b) },
	"sub":      func(a, b, _ *big.Int) *big.Int { return new(big.Int).Sub(a, b) },
	"mul.lo":   func(a, b, _ *big.Int) *big.Int { return new(big.Int).Mul(a, b) },
	"mul.wide": func(a, b, _ *big.Int) *big.Int { return new(big.Int).Mul(a, b) },
	"mad.lo":   func(a, b, c *big.Int) *big.Int { return new(big.Int).Add(new(big.Int).Mul(a, b), c) },
	"min": func(a, b, _ *big.Int) *big.Int {
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	},
	"max": func(a, b, _ *big.Int) *big.Int {
		if a.Cmp(b) > 0 {
			return a
		}
		return b
	},
	"div": func(a, b, _ *big.Int) *big.Int {
		if b.Sign() == 0 {
			return big.NewInt(-1)
		}
		return new(big.Int).Quo(a, b)
	},
	"rem": func(a, b, _ *big.Int) *big.Int {
		if b.Sign() == 0 {
			return a
		}
		return new(big.Int).Rem(a, b)
	},
	"neg": func(a, _, _ *big.Int) *big.Int { return new(big.Int).Neg(a) },
	"abs": func(a, _, _ *big.Int) *big.Int { return new(big.Int).Abs(a) },
	"and": func(a, b, _ *big.Int) *big.Int { return new(big.Int).And(a, b) },
	"or":  func(a, b, _ *big.Int) *big.Int { return new(big.Int).Or(a, b) },
	"xor": func(a, b, _ *big.Int) *big.Int { return new(big.Int).Xor(a, b) },
	"not": func(a, _, _ *big.Int) *big.Int { return new(big.Int).Not(a) },
	"mov": func(a, _, _ *big.Int) *big.Int { return a },
}

func TestIntegerInstructionsAgreeWithBigIntegers(t *testing.T) {
	for name, want := range integerOps {
		n := arithmetic[instructionOf(name)].operands()
		for _, suffix := range []string{"u16", "s16", "u32", "s32", "u64", "s64", "b16", "b32", "b64"} {
			op := name + "." + suffix
			if _, ok := arithmetic[op]; !ok {
				continue
			}
			typ, _ := parseType(suffix)
			dst := typ.size
			if name == "mul.wide" {
				dst *= 2
			}
			t.Run(op, func(t *testing.T) {
				agree(t, op, dst, []int{typ.size, typ.size, typ.size}[:n], 3, func(v []uint64) uint64 {
					v = append(v, 0, 0)
					return wrap(want(number(v[0], typ), number(v[1], typ), number(v[2], typ)), dst)
				})
			})
		}
	}
}

// instructionOf returns a full instruction name that begins with name.
func instructionOf(name string) string {
	for _, s := range []string{".s32", ".b32"} {
		if _, ok := arithmetic[name+s]; ok {
			return name + s
		}
	}
	return ""
}

// agree compares an instruction with a function on random and special operands.
func agree(t *testing.T, op string, dst int, sizes []int, times int, want func(v []uint64) uint64) {
	t.Helper()
	gen := rapid.SliceOfN(value(), 32, 32)
	for i := range times {
		var in [][]uint64
		for j := range sizes {
			in = append(in, gen.Example(1+i*10+j))
		}
		got := evaluate(t, op, dst, sizes, in)
		for l := range got {
			var v []uint64
			for j := range in {
				v = append(v, in[j][l]&mask(sizes[j]))
			}
			require.Equal(t, fmt.Sprintf("%x", want(v)), fmt.Sprintf("%x", got[l]), "%s of %x", op, v)
		}
	}
}

func TestHighHalvesOfProductsAgreeWithBigIntegers(t *testing.T) {
	for _, suffix := range []string{"u16", "s16", "u32", "s32", "u64", "s64"} {
		typ, _ := parseType(suffix)
		high := func(v []uint64) *big.Int {
			return new(big.Int).Rsh(new(big.Int).Mul(number(v[0], typ), number(v[1], typ)), uint(8*typ.size))
		}
		agree(t, "mul.hi."+suffix, typ.size, []int{typ.size, typ.size}, 5, func(v []uint64) uint64 { return wrap(high(v), typ.size) })
		if typ.size > 2 {
			agree(t, "mad.hi."+suffix, typ.size, []int{typ.size, typ.size, typ.size}, 5, func(v []uint64) uint64 {
				return wrap(new(big.Int).Add(high(v), number(v[2], typ)), typ.size)
			})
		} else {
			continue
		}
	}
	for _, suffix := range []string{"u16", "s16", "u32", "s32"} {
		typ, _ := parseType(suffix)
		agree(t, "mad.wide."+suffix, 2*typ.size, []int{typ.size, typ.size, 2 * typ.size}, 5, func(v []uint64) uint64 {
			p := new(big.Int).Mul(number(v[0], typ), number(v[1], typ))
			return wrap(p.Add(p, number(v[2], typ2(typ))), 2*typ.size)
		})
	}
}

// typ2 returns the type of twice the width.
func typ2(t typ) typ { return typ{t.kind, 2 * t.size} }

func TestShiftsTakeLargeAmountsAsTheWidth(t *testing.T) {
	for _, suffix := range []string{"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"} {
		typ, _ := parseType(suffix)
		w := uint64(8 * typ.size)
		if typ.kind == bitsKind {
			agree(t, "shl."+suffix, typ.size, []int{typ.size, 4}, 3, func(v []uint64) uint64 {
				return wrap(new(big.Int).Lsh(number(v[0], typ), uint(min(v[1], w))), typ.size)
			})
		}
		agree(t, "shr."+suffix, typ.size, []int{typ.size, 4}, 3, func(v []uint64) uint64 {
			return wrap(new(big.Int).Rsh(number(v[0], typ), uint(min(v[1], w))), typ.size)
		})
	}
}

func TestBitInstructionsAgreeWithTheBitsThemselves(t *testing.T) {
	agree(t, "popc.b32", 4, []int{4}, 2, func(v []uint64) uint64 { return uint64(strings.Count(fmt.Sprintf("%b", v[0]), "1")) })
	agree(t, "popc.b64", 4, []int{8}, 2, func(v []uint64) uint64 { return uint64(strings.Count(fmt.Sprintf("%b", v[0]), "1")) })
	agree(t, "clz.b32", 4, []int{4}, 2, func(v []uint64) uint64 { return uint64(32 - bits.Len64(v[0])) })
	agree(t, "clz.b64", 4, []int{8}, 2, func(v []uint64) uint64 { return uint64(64 - bits.Len64(v[0])) })
	reverse := func(w int) func(v []uint64) uint64 {
		return func(v []uint64) (r uint64) {
			for i := range w {
				r |= v[0] >> i & 1 << (w - 1 - i)
			}
			return r
		}
	}
	agree(t, "brev.b32", 4, []int{4}, 2, reverse(32))
	agree(t, "brev.b64", 8, []int{8}, 2, reverse(64))
	for _, suffix := range []string{"u32", "s32", "u64", "s64"} {
		typ, _ := parseType(suffix)
		w := uint64(8 * typ.size)
		agree(t, "bfe."+suffix, typ.size, []int{typ.size, 4, 4}, 6, func(v []uint64) (r uint64) {
			// These are the bit loops of the PTX manual.
			pos, n := v[1]&255, v[2]&255
			sign := uint64(0)
			if typ.kind == signedKind && n > 0 {
				sign = v[0] >> min(pos+n-1, w-1) & 1
			}
			for i := range w {
				bit := sign
				if i < n && pos+i < w {
					bit = v[0] >> (pos + i) & 1
				}
				r |= bit << i
			}
			return r
		})
	}
	for _, size := range []int{4, 8} {
		w := uint64(8 * size)
		agree(t, fmt.Sprintf("bfi.b%d", w), size, []int{size, size, 4, 4}, 6, func(v []uint64) uint64 {
			r, pos, n := v[1], v[2]&255, v[3]&255
			for i := uint64(0); i < n && pos+i < w; i++ {
				r = r&^(1<<(pos+i)) | v[0]>>i&1<<(pos+i)
			}
			return r
		})
	}
	agree(t, "prmt.b32", 4, []int{4, 4, 4}, 4, func(v []uint64) (r uint64) {
		for i := range 4 {
			sel := v[2] >> (4 * i) & 15
			b := (v[1]<<32 | v[0]) >> (8 * (sel & 7)) & 255
			if sel > 7 {
				b = b >> 7 * 255
			}
			r |= b << (8 * i)
		}
		return r
	})
	for _, mode := range []string{"wrap", "clamp"} {
		amount := func(v uint64) uint64 {
			if mode == "wrap" {
				return v % 32
			}
			return min(v, 32)
		}
		agree(t, "shf.l."+mode+".b32", 4, []int{4, 4, 4}, 4, func(v []uint64) uint64 {
			return (v[1]<<32 | v[0]) << amount(v[2]) >> 32
		})
		agree(t, "shf.r."+mode+".b32", 4, []int{4, 4, 4}, 4, func(v []uint64) uint64 {
			return (v[1]<<32 | v[0]) >> amount(v[2]) & mask(4)
		})
	}
	agree(t, "lop3.b32", 4, []int{4, 4, 4, 4}, 4, func(v []uint64) (r uint64) {
		for i := range 32 {
			r |= v[3] >> (v[0]>>i&1<<2 | v[1]>>i&1<<1 | v[2]>>i&1) & 1 << i
		}
		return r
	})
}
