package ptx

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// exact returns v as a number without rounding, and false for NaN and infinities.
func exact(v uint64, size int) (*big.Float, bool) {
	f := f64(v)
	if size == 4 {
		f = float64(f32(v))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, false
	}
	return new(big.Float).SetPrec(4200).SetFloat64(f), true
}

// nearest returns the bits of the nearest float of the size.
func nearest(v *big.Float, size int) uint64 {
	if size == 4 {
		f, _ := v.Float32()
		return uint64(math.Float32bits(f))
	}
	f, _ := v.Float64()
	return math.Float64bits(f)
}

func isNaN(v uint64, size int) bool {
	if size == 4 {
		return f32(v) != f32(v)
	}
	return f64(v) != f64(v)
}

var floatOps = map[string]func(z *big.Float, v []*big.Float) bool{
	"add.rn": func(z *big.Float, v []*big.Float) bool { z.Add(v[0], v[1]); return z.Sign() != 0 },
	"sub.rn": func(z *big.Float, v []*big.Float) bool { z.Sub(v[0], v[1]); return z.Sign() != 0 },
	"mul.rn": func(z *big.Float, v []*big.Float) bool { z.Mul(v[0], v[1]); return true },
	"fma.rn": func(z *big.Float, v []*big.Float) bool {
		z.Add(new(big.Float).SetPrec(4200).Mul(v[0], v[1]), v[2])
		return z.Sign() != 0
	},
	"div.rn": func(z *big.Float, v []*big.Float) bool {
		if v[1].Sign() != 0 {
			z.Quo(v[0], v[1])
		}
		return v[1].Sign() != 0
	},
	"rcp.rn": func(z *big.Float, v []*big.Float) bool {
		if v[0].Sign() != 0 {
			z.Quo(new(big.Float).SetInt64(1), v[0])
		}
		return v[0].Sign() != 0
	},
	"sqrt.rn": func(z *big.Float, v []*big.Float) bool {
		if v[0].Sign() > 0 {
			z.Sqrt(v[0])
		}
		return v[0].Sign() > 0
	},
}

// hardware computes with the machine's own arithmetic. It decides where a result is not
// a number or is a zero whose sign matters.
var hardware = map[string]func(v []float64) float64{
	"add.rn":  func(v []float64) float64 { return v[0] + v[1] },
	"sub.rn":  func(v []float64) float64 { return v[0] - v[1] },
	"mul.rn":  func(v []float64) float64 { return v[0] * v[1] },
	"fma.rn":  func(v []float64) float64 { return math.FMA(v[0], v[1], v[2]) },
	"div.rn":  func(v []float64) float64 { return v[0] / v[1] },
	"rcp.rn":  func(v []float64) float64 { return 1 / v[0] },
	"sqrt.rn": func(v []float64) float64 { return math.Sqrt(v[0]) },
}

func TestFloatInstructionsRoundTheExactResultOnce(t *testing.T) {
	for name, op := range floatOps {
		for _, size := range []int{4, 8} {
			full := name + map[int]string{4: ".f32", 8: ".f64"}[size]
			n := arithmetic[full].operands()
			t.Run(full, func(t *testing.T) {
				agreeFloat(t, full, size, n, func(v []uint64) uint64 {
					z := new(big.Float).SetPrec(4200)
					var args []*big.Float
					var plain []float64
					for _, a := range v {
						if x, ok := exact(a, size); ok {
							args = append(args, x)
						}
						if size == 4 {
							plain = append(plain, float64(f32(a)))
						} else {
							plain = append(plain, f64(a))
						}
					}
					if len(args) == n && op(z, args) {
						return nearest(z, size)
					}
					if size == 4 {
						return putF32(float32(hardware[name](plain)))
					}
					return putF64(hardware[name](plain))
				})
			})
		}
	}
}

// agreeFloat is agree for floating-point results, where all NaNs are equal.
func agreeFloat(t *testing.T, op string, size, n int, want func(v []uint64) uint64) {
	t.Helper()
	canon := func(v uint64) uint64 {
		if isNaN(v, size) {
			return 1 << 62
		}
		return v
	}
	sizes := []int{size, size, size}[:n]
	gen := floats(size)
	for i := range 40 {
		var in [][]uint64
		for j := range n {
			in = append(in, gen(i*10+j))
		}
		for l, got := range evaluate(t, op, size, sizes, in) {
			var v []uint64
			for j := range in {
				v = append(v, in[j][l])
			}
			require.Equal(t, canon(want(v)), canon(got), "%s of %x gives %x", op, v, got)
		}
	}
}

// floats draws 32 floats of a size: arbitrary ones, special ones, and ones close to
// each other, whose sums cancel and whose products lie between two floats.
func floats(size int) func(seed int) []uint64 {
	return func(seed int) []uint64 {
		s := uint64(seed)*0x9e3779b97f4a7c15 + 12345
		next := func() uint64 {
			s ^= s << 13
			s ^= s >> 7
			s ^= s << 17
			return s
		}
		out := make([]uint64, 32)
		for i := range out {
			v := next()
			switch next() % 4 {
			case 0:
				v = odd[v%uint64(len(odd))]
			case 1:
				v = math.Float64bits(float64(int64(v%2048)-1024) / 16)
				if size == 4 {
					v = uint64(math.Float32bits(float32(f64(v))))
				}
			case 2:
				f := 1 + float64(v%4096)*0x1p-23
				v = math.Float64bits(f)
				if size == 4 {
					v = uint64(math.Float32bits(float32(f)))
				}
			}
			out[i] = v & mask(size)
		}
		return out
	}
}

func TestFusedFloat32IsNotRoundedTwice(t *testing.T) {
	// 1+2^-12 squared plus 2^-60: a sum in float64 would lose the last term and
	// then round the tie the other way.
	a := uint64(math.Float32bits(1 + 0x1p-12))
	for _, c := range []float32{0x1p-60, -0x1p-60} {
		want := float32(1 + 0x1p-11)
		if c > 0 {
			want = math.Nextafter32(want, 2)
		}
		require.Equal(t, want, f32(fmaF32(a, a, uint64(math.Float32bits(c)))))
	}
}

func TestMinAndMaxIgnoreNaNAndOrderZeros(t *testing.T) {
	nan, neg := math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct{ a, b, lo, hi float64 }{
		{1, 2, 1, 2}, {nan, 3, 3, 3}, {3, nan, 3, 3}, {0, neg, neg, 0}, {neg, 0, neg, 0}, {math.Inf(-1), 5, math.Inf(-1), 5},
	} {
		require.Equal(t, putF64(c.lo), minF64(putF64(c.a), putF64(c.b)))
		require.Equal(t, putF64(c.hi), maxF64(putF64(c.a), putF64(c.b)))
		require.Equal(t, putF32(float32(c.lo)), minF32(putF32(float32(c.a)), putF32(float32(c.b))))
		require.Equal(t, putF32(float32(c.hi)), maxF32(putF32(float32(c.a)), putF32(float32(c.b))))
	}
}

func TestSignInstructionsChangeTheSignBitOnly(t *testing.T) {
	for _, s := range []struct {
		size int
		name string
		bit  uint64
	}{{4, ".f32", sign32}, {8, ".f64", sign64}} {
		agree(t, "neg"+s.name, s.size, []int{s.size}, 2, func(v []uint64) uint64 { return v[0] ^ s.bit })
		agree(t, "abs"+s.name, s.size, []int{s.size}, 2, func(v []uint64) uint64 { return v[0] &^ s.bit })
		agree(t, "copysign"+s.name, s.size, []int{s.size, s.size}, 2, func(v []uint64) uint64 { return v[1]&^s.bit | v[0]&s.bit })
	}
}

func TestFlushingMakesSubnormalsZero(t *testing.T) {
	tiny := uint64(math.Float32bits(0x1p-140))
	small := uint64(math.Float32bits(0x1p-100))
	one := uint64(math.Float32bits(1))
	require.Equal(t, tiny, evaluate(t, "add.f32", 4, []int{4, 4}, lanesOf(tiny, 0))[0])
	require.Zero(t, evaluate(t, "add.ftz.f32", 4, []int{4, 4}, lanesOf(tiny, 0))[0], "an operand")
	require.Zero(t, evaluate(t, "mul.ftz.f32", 4, []int{4, 4}, lanesOf(small, small))[0], "a result")
	require.Equal(t, uint64(sign32), evaluate(t, "fma.rn.ftz.f32", 4, []int{4, 4, 4}, lanesOf(tiny|sign32, one, sign32))[0], "the sign stays")
	require.Zero(t, evaluate(t, "sqrt.rn.ftz.f32", 4, []int{4}, lanesOf(tiny))[0])
}

// lanesOf returns operands that are the same in all lanes.
func lanesOf(v ...uint64) [][]uint64 {
	var in [][]uint64
	for _, x := range v {
		lane := make([]uint64, 32)
		for i := range lane {
			lane[i] = x
		}
		in = append(in, lane)
	}
	return in
}
