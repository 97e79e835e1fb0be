package ptx

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIntegersConvertByCuttingAndExtending(t *testing.T) {
	for _, to := range []string{"u16", "s16", "u32", "s32", "u64", "s64"} {
		for _, from := range []string{"u16", "s16", "u32", "s32", "u64", "s64"} {
			a, _ := parseType(to)
			b, _ := parseType(from)
			agree(t, "cvt."+to+"."+from, a.size, []int{b.size}, 1, func(v []uint64) uint64 { return wrap(number(v[0], b), a.size) })
		}
	}
	require.Equal(t, uint64(0xffffff80), evaluate(t, "cvt.s32.s8", 4, []int{4}, lanesOf(0x180))[0], "only the low byte counts")
	require.Equal(t, uint64(0x80), evaluate(t, "cvt.u32.u8", 4, []int{4}, lanesOf(0x180))[0])
	require.Equal(t, uint64(math.MaxUint64), evaluate(t, "cvt.s32.s64", 8, []int{8}, lanesOf(0xffffffff))[0], "a signed result fills the register")
}

func TestIntegersConvertToTheNearestFloat(t *testing.T) {
	for _, from := range []string{"u16", "s16", "u32", "s32", "u64", "s64"} {
		b, _ := parseType(from)
		for _, size := range []int{4, 8} {
			agree(t, fmt.Sprintf("cvt.rn.f%d.%s", 8*size, from), size, []int{b.size}, 3, func(v []uint64) uint64 {
				return nearest(new(big.Float).SetPrec(80).SetInt(number(v[0], b)), size)
			})
		}
	}
}

func TestFloatsConvertToIntegersWithEveryRoundingAndClamp(t *testing.T) {
	// rounded rounds by big integers.
	rounded := func(x *big.Float, mode string) *big.Int {
		down, _ := x.Int(nil) // towards zero
		if down.Sign() <= 0 && new(big.Float).SetInt(down).Cmp(x) > 0 {
			down.Sub(down, big.NewInt(1))
		}
		rest := new(big.Float).Sub(x, new(big.Float).SetPrec(4200).SetInt(down)) // in [0, 1)
		up := new(big.Int).Add(down, big.NewInt(1))
		switch {
		case rest.Sign() == 0, mode == "rmi", mode == "rzi" && x.Sign() > 0:
			return down
		case mode != "rni":
			return up
		}
		if c := rest.Cmp(big.NewFloat(0.5)); c > 0 || c == 0 && down.Bit(0) == 1 {
			return up
		}
		return down
	}
	for _, to := range []string{"u16", "s16", "u32", "s32", "u64", "s64"} {
		a, _ := parseType(to)
		lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(8*a.size))
		if a.kind == signedKind {
			hi.Rsh(hi, 1)
			lo.Neg(hi)
		}
		hi.Sub(hi, big.NewInt(1))
		for _, mode := range []string{"rni", "rzi", "rmi", "rpi"} {
			for _, size := range []int{4, 8} {
				agree(t, fmt.Sprintf("cvt.%s.%s.f%d", mode, to, 8*size), a.size, []int{size}, 2, func(v []uint64) uint64 {
					x, ok := exact(v[0], size)
					switch {
					case isNaN(v[0], size) && size == 4 && a.size < 8:
						return 0
					case isNaN(v[0], size):
						return 1 << (8*a.size - 1)
					case !ok && v[0]>>(8*size-1) == 1:
						return wrap(lo, a.size)
					case !ok:
						return wrap(hi, a.size)
					}
					n := rounded(x, mode)
					if n.Cmp(lo) < 0 {
						n = lo
					} else if n.Cmp(hi) > 0 {
						n = hi
					}
					return wrap(n, a.size)
				})
			}
		}
	}
}

func TestFloatsConvertToFloats(t *testing.T) {
	agreeFloat(t, "cvt.rni.f64.f64", 8, 1, func(v []uint64) uint64 { return putF64(math.RoundToEven(f64(v[0]))) })
	agreeFloat(t, "cvt.rpi.f32.f32", 4, 1, func(v []uint64) uint64 { return putF32(float32(math.Ceil(float64(f32(v[0]))))) })
	for _, v := range []float64{1, 0.1, 1e300, -1e-300, math.Inf(1), 1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-50} {
		require.Equal(t, uint64(math.Float32bits(float32(v))), evaluate(t, "cvt.rn.f32.f64", 4, []int{8}, lanesOf(math.Float64bits(v)))[0])
	}
	require.Equal(t, math.Float64bits(0x1p-140), evaluate(t, "cvt.f64.f32", 8, []int{4}, lanesOf(uint64(math.Float32bits(0x1p-140))))[0])
	require.Zero(t, evaluate(t, "cvt.ftz.f64.f32", 8, []int{4}, lanesOf(uint64(math.Float32bits(0x1p-140))))[0])
}

func TestComparisonsOfIntegersKnowTheSign(t *testing.T) {
	for suffix, tests := range map[string]map[string]bool{
		"s32": {"eq": false, "ne": true, "lt": true, "le": true, "gt": false, "ge": false},
		"u32": {"eq": false, "ne": true, "lt": false, "le": false, "gt": true, "ge": true, "lo": false, "ls": false, "hi": true, "hs": true},
		"b32": {"eq": false, "ne": true},
	} {
		typ, _ := parseType(suffix)
		for op, want := range tests {
			require.Equal(t, want, comparison(op, typ)(0xffffffff, 1), "setp.%s.%s of -1 and 1", op, suffix)
			equal := op == "eq" || op == "le" || op == "ge" || op == "ls" || op == "hs"
			require.Equal(t, equal, comparison(op, typ)(1<<32|5, 5), "setp.%s.%s of equal words", op, suffix)
		}
	}
	for _, bad := range []string{"lt.b32", "lo.s32", "equ.s64", "num.u32", "nu.f64", "x.f64", "hi.f32"} {
		op, suffix, _ := strings.Cut(bad, ".")
		typ, _ := parseType(suffix)
		require.Nil(t, comparison(op, typ), bad)
	}
}

func TestComparisonsOfFloatsKnowNaN(t *testing.T) {
	nan, one, two := putF64(math.NaN()), putF64(1), putF64(2)
	double := typ{floatKind, 8}
	for op, want := range map[string][3]bool{ // 1 and 2, 2 and 2, NaN and 2
		"eq": {false, true, false}, "ne": {true, false, false}, "lt": {true, false, false},
		"le": {true, true, false}, "gt": {false, false, false}, "ge": {false, true, false},
		"equ": {false, true, true}, "neu": {true, false, true}, "ltu": {true, false, true},
		"leu": {true, true, true}, "gtu": {false, false, true}, "geu": {false, true, true},
		"num": {true, true, false}, "nan": {false, false, true},
	} {
		test := comparison(op, double)
		require.Equal(t, want, [3]bool{test(one, two), test(two, two), test(nan, two)}, op)
		require.Equal(t, want[2], test(two, nan), op)
		single := comparison(op, typ{floatKind, 4})
		require.Equal(t, want[0], single(putF32(1), putF32(2)), op)
	}
}

func TestPredicatesCombineSelectAndGuard(t *testing.T) {
	m := NewMemory(0)
	out := upload(t, m, "out", make([]int32, 32))
	_, err := try(t, 32, `
		setp.lt.u32 %p0|%p1, %r0, 16;
		setp.ge.and.u32 %p2, %r0, 8, %p0;
		setp.eq.or.s32 %p3, %r0, 31, !%p1;
		xor.pred %p4, %p2, %p3; not.pred %p5, %p4; mov.pred %p6, %p5; or.pred %p7, %p6, %p2; and.pred %p8, %p7, %p1;
		selp.b32 %r1, 1, 0, %p0;
		mov.u32 %r2, 0;
		@%p2 mov.u32 %r2, 2;
		mov.u32 %r3, 4;
		@!%p3 mov.u32 %r3, 0;
		selp.u32 %r4, 8, 0, %p8;
		mov.pred %p9, -1;
		selp.b32 %r5, 16, 0, %p9;
		add.s32 %r1, %r1, %r2; add.s32 %r1, %r1, %r3; add.s32 %r1, %r1, %r4; add.s32 %r1, %r1, %r5;
		mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd1, %rd0; st.global.u32 [%rd1], %r1; ret;`, m, out)
	require.NoError(t, err)
	for l, got := range download[int32](t, m, out, 32) {
		p0 := l < 16
		p2, p3 := l >= 8 && p0, l == 31 || p0
		p6 := p2 == p3
		want := int32(16)
		for i, p := range []bool{p0, p2, p3, (p6 || p2) && !p0} {
			if p {
				want += 1 << i
			}
		}
		require.Equal(t, want, got, "lane %d", l)
	}
}
