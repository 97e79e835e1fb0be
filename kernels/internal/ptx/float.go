package ptx

import "math"

func f32(a uint64) float32 { return math.Float32frombits(uint32(a)) }
func f64(a uint64) float64 { return math.Float64frombits(a) }

// putF32 returns v as a register holds it. Devices have one 32-bit NaN.
func putF32(v float32) uint64 {
	if v != v {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(v))
}

func putF64(v float64) uint64 { return math.Float64bits(v) }

func addF32(a, b uint64) uint64 { return putF32(f32(a) + f32(b)) }
func subF32(a, b uint64) uint64 { return putF32(f32(a) - f32(b)) }
func mulF32(a, b uint64) uint64 { return putF32(f32(a) * f32(b)) }
func divF32(a, b uint64) uint64 { return putF32(f32(a) / f32(b)) }
func addF64(a, b uint64) uint64 { return putF64(f64(a) + f64(b)) }
func subF64(a, b uint64) uint64 { return putF64(f64(a) - f64(b)) }
func mulF64(a, b uint64) uint64 { return putF64(f64(a) * f64(b)) }
func divF64(a, b uint64) uint64 { return putF64(f64(a) / f64(b)) }

// sqrtF32 rounds twice, to 53 bits and to 24, which gives the correctly rounded square
// root because 53 >= 2*24+2.
func sqrtF32(a uint64) uint64 { return putF32(float32(math.Sqrt(float64(f32(a))))) }
func sqrtF64(a uint64) uint64 { return putF64(math.Sqrt(f64(a))) }
func rcpF32(a uint64) uint64  { return putF32(1 / f32(a)) }
func rcpF64(a uint64) uint64  { return putF64(1 / f64(a)) }

func fmaF64(a, b, c uint64) uint64 { return putF64(math.FMA(f64(a), f64(b), f64(c))) }

// fmaF32 rounds a*b+c once. The product of two float32 is exact in float64. The sum is
// rounded to odd in float64; rounding that to 24 bits gives the correct result.
func fmaF32(a, b, c uint64) uint64 {
	p, z := float64(f32(a))*float64(f32(b)), float64(f32(c))
	s := p + z
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return putF32(float32(s))
	}
	v := s - p
	if e := (p - (s - v)) + (z - v); e != 0 {
		if u := math.Float64bits(s); u&1 == 0 {
			if (e > 0) == (s > 0) {
				u++
			} else {
				u--
			}
			s = math.Float64frombits(u)
		}
	}
	return putF32(float32(s))
}

const (
	sign32 = 1 << 31
	sign64 = 1 << 63
)

func negF32(a uint64) uint64 { return uint64(uint32(a) ^ sign32) }
func absF32(a uint64) uint64 { return uint64(uint32(a) &^ sign32) }
func negF64(a uint64) uint64 { return a ^ sign64 }
func absF64(a uint64) uint64 { return a &^ sign64 }

// copysignF32 returns b with the sign of a. PTX has the operands in this order.
func copysignF32(a, b uint64) uint64 { return a&sign32 | b&(sign32-1) }
func copysignF64(a, b uint64) uint64 { return a&sign64 | b&^sign64 }

func minF32(a, b uint64) uint64 { return putF32(minimum(f32(a), f32(b))) }
func maxF32(a, b uint64) uint64 { return putF32(maximum(f32(a), f32(b))) }
func minF64(a, b uint64) uint64 { return putF64(minimum(f64(a), f64(b))) }
func maxF64(a, b uint64) uint64 { return putF64(maximum(f64(a), f64(b))) }

// minimum returns the smaller number. It ignores a NaN if the other operand is a
// number, and -0 is less than +0.
func minimum[F float32 | float64](x, y F) F {
	switch {
	case x != x:
		return y
	case y != y:
		return x
	}
	return min(x, y)
}

// maximum returns the larger number, with the rules of minimum.
func maximum[F float32 | float64](x, y F) F {
	switch {
	case x != x:
		return y
	case y != y:
		return x
	}
	return max(x, y)
}

// flush replaces a subnormal float32 by the zero of the same sign (.ftz).
func flush(a uint64) uint64 {
	if a&0x7f800000 == 0 {
		return a & sign32
	}
	return a
}

func flush1(f func(uint64) uint64) func(uint64) uint64 {
	return func(a uint64) uint64 { return flush(f(flush(a))) }
}

func flush2(f func(a, b uint64) uint64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 { return flush(f(flush(a), flush(b))) }
}

func flush3(f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 { return flush(f(flush(a), flush(b), flush(c))) }
}
