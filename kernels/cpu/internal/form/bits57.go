package form

import (
	"math"
	"slices"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	sample57 = 1 << 12 // number of values in a sample
	// mostUncompressed57 is the largest fraction of groups of eight values that are stored
	// uncompressed, which takes 72 bytes each. A compressed group saves 7 bytes.
	mostUncompressed57 = 0.04
	// slice57 is the largest number of values of a slice that is packed in 57 bits: packing needs
	// an uncompressed copy of the slice.
	slice57 = 1 << 16
)

// set57 is the part of a ValueSet for storage in 57 bits.
type set57[V sparse.Value] struct {
	low          int
	uncompressed float64 // fraction of groups of eight values that are stored uncompressed, from a sample
	// slice is the slice that is being filled; first is the slot of its first value.
	slice []V
	first int
}

// Find57 returns the ValueSet that stores float64 values in 57 bits each (simd.Values57). ok is
// false if a sample shows that too many groups of eight would be stored uncompressed.
func Find57[V sparse.Value](val []V) (s ValueSet[V], ok bool) {
	all, double := any(val).([]float64)
	if !double || len(all) == 0 {
		return s, false
	}
	looked := make([]float64, 0, sample57)
	step := len(all)/sample57 + 1
	for k, at := 0, 0; k < len(all); k += step {
		at = int((uint(at) + 0x9E3779B1) % uint(step)) // varying distances, because values may be periodic
		looked = append(looked, all[min(k+at, len(all)-1)])
	}
	low, out := Low57(looked)
	s.StoredAs = Bits57
	s.set57 = set57[V]{low: low, uncompressed: 1 - math.Pow(1-float64(out)/float64(len(looked)), 8)}
	return s, s.set57.uncompressed <= mostUncompressed57
}

// Bytes returns the average number of bytes of a value.
func (s ValueSet[V]) Bytes() float64 {
	return float64(s.StoredAs.Bits(int(mem.Size[V]())))/8 + 9*s.set57.uncompressed
}

// Within returns s, or full storage if s uses 57 bits and the level has no kernel for them or a
// slice has more than slice57 values.
func (s ValueSet[V]) Within(l simd.Level, slice int) ValueSet[V] {
	if l >= simd.AVX2 && !Fast57(l) || slice > slice57 {
		return s.Not57()
	}
	return s
}

// Not57 returns s, or full storage if s uses 57 bits. It is for forms that are not filled slice by
// slice.
func (s ValueSet[V]) Not57() ValueSet[V] {
	if s.StoredAs == Bits57 {
		return ValueSet[V]{}
	}
	return s
}

// make57 allocates room for n values.
func (s *ValueSet[V]) make57(m *Memory, n int64) (*Values57, error) {
	bytes, err := Make[byte](m, n/8*57+Slack57)
	if err != nil {
		return nil, err
	}
	room := min(int64((1.5*s.set57.uncompressed+0.01)*float64(n/8))+16, n/8) // more than the sample shows
	apart, err := Make[int64](m, room+1)
	if err != nil {
		return nil, err
	}
	plain, err := Make[float64](m, 8*room)
	return New57(s.set57.low, bytes, apart, plain), err
}

// Open begins a slice of n values; first is the slot of the first one. The values can be put in any
// order until close. open and close do nothing for other storages.
func (s *ValueSet[V]) Open(first, n int) {
	if s.StoredAs != Bits57 {
		return
	}
	q := &s.set57
	q.slice, q.first = slices.Grow(q.slice[:0], n)[:n], first
	none := V(In57(q.low)) // fills slots without a value; it is stored in 57 bits
	for i := range q.slice {
		q.slice[i] = none
	}
}

// Close packs the open slice.
func (s *ValueSet[V]) Close(l simd.Level, out *Values[V]) error {
	if s.StoredAs != Bits57 {
		return nil
	}
	if !out.Bits57.Append(l, any(s.set57.slice).([]float64)) {
		return sparse.Inputf("matrix", "more values do not fit in 57 bits than their sample predicts")
	}
	return nil
}

// bytes57 returns the memory of values in 57 bits.
func bytes57(s *Values57) int64 {
	if s == nil {
		return 0
	}
	return int64(len(s.Bytes)) + 8*int64(cap(s.Apart)+cap(s.Plain))
}

// Values57 stores float64 values in 57 bits each without loss, if most of their exponents are among
// 16 successive ones: 4 bits then suffice for the exponent. Eight values occupy 57 bytes. The first
// 56 bytes have 7 bytes per value, least significant byte first:
//
//	sign << 55 | d&7 << 52 | mantissa,  d = exponent - Low
//
// The mantissa of 52 bits and the exponent of 11 bits are those of IEEE 754. Bit i of the last byte
// is the fourth bit of d of value i.
//
// If one of eight values has another exponent, as zeros, infinities and NaN mostly have, the eight
// are stored uncompressed.
type Values57 struct {
	Low   int    // the least of the 16 exponents, at most 2032
	Bytes []byte // 57 bytes per eight values, and Slack57 bytes that kernels may read
	// Apart has the offset in Bytes of each uncompressed group of eight, ascending, then an offset
	// beyond Bytes. Plain has the values of these groups. Both are allocated with their capacity.
	Apart []int64
	Plain []float64

	n      int // number of values
	cursor cursor57
}

const (
	// Slack57 is the number of bytes after the last value that kernels may read.
	Slack57 = 8

	eight57   = 57 // bytes of eight values
	codes57   = 16 // number of exponents
	nowhere57 = math.MaxInt64 >> 1
)

// cursor57 is the part of Values57 that kernels read. They increment index.
type cursor57 struct {
	low   uint64 // Low << 52
	bytes *byte  // Bytes[0]
	apart *int64
	plain *float64
	index int // next group in apart and plain
}

// New57 returns Values57 without values. bytes has room for the values. The capacities of apart and
// plain limit the number of uncompressed groups.
func New57(low int, bytes []byte, apart []int64, plain []float64) *Values57 {
	return &Values57{Low: low, Bytes: bytes, Apart: append(apart[:0], nowhere57), Plain: plain[:0]}
}

// Fast57 reports whether the kernels of a level read values in 57 bits, which needs AVX-512 VBMI.
// Plain Go reads them too, but slowly.
func Fast57(l simd.Level) bool { return l == simd.AVX512 && cpuid.CPU.Supports(cpuid.AVX512VBMI) }

// Append appends values; their number is a multiple of 8. It returns false if there is no room for
// the uncompressed groups.
func (s *Values57) Append(l simd.Level, val []float64) bool {
	for len(val) > 0 {
		n := 0
		if Fast57(l) {
			n = 8 * pack57(len(val)/8, unsafe.SliceData(val), uint64(s.Low)<<53, BytesFrom(s.Bytes, s.n/8*eight57))
		} else {
			for n < len(val) && s.pack((*[8]float64)(val[n:]), s.at(s.n+n)) {
				n += 8
			}
		}
		s.n, val = s.n+n, val[n:]
		if len(val) == 0 {
			break
		}
		// A group of eight with an exponent out of range.
		last := len(s.Apart) - 1
		if last+2 > cap(s.Apart) || len(s.Plain)+8 > cap(s.Plain) {
			return false
		}
		s.Apart[last] = int64(s.n / 8 * eight57)
		s.Apart = append(s.Apart, nowhere57)
		s.Plain = append(s.Plain, val[:8]...)
		s.n, val = s.n+8, val[8:]
	}
	return true
}

// at returns the bytes of the group of eight of value k.
func (s *Values57) at(k int) *[eight57]byte { return (*[eight57]byte)(s.Bytes[k/8*eight57:]) }

// pack writes a group of eight values. It returns false if an exponent is out of range.
func (s *Values57) pack(val *[8]float64, out *[eight57]byte) bool {
	out[56] = 0
	for i, v := range val {
		b := math.Float64bits(v)
		e := b>>52&0x7FF - uint64(s.Low)
		if e >= codes57 {
			return false
		}
		out[56] |= byte(e >> 3 << i)
		code := b>>63<<55 | e&7<<52 | b<<12>>12
		for j := range 7 {
			out[7*i+j] = byte(code >> (8 * j))
		}
	}
	return true
}

// value returns value k.
func (s *Values57) value(k int) float64 {
	if n, apart := slices.BinarySearch(s.Apart, int64(k/8*eight57)); apart {
		return s.Plain[8*n+k%8]
	}
	b, code := s.at(k), uint64(0)
	for j := range 7 {
		code |= uint64(b[k%8*7+j]) << (8 * j)
	}
	e := code>>52&7 | uint64(b[56]>>(k%8)&1)<<3
	return math.Float64frombits(code>>55<<63 | (e+uint64(s.Low))<<52 | code<<12>>12)
}

// from returns the cursor for kernels that begin at value k. It is valid until the next call.
func (s *Values57) from(k int) *cursor57 {
	n, _ := slices.BinarySearch(s.Apart, int64(k/8*eight57))
	s.cursor = cursor57{uint64(s.Low) << 52, unsafe.SliceData(s.Bytes), unsafe.SliceData(s.Apart), unsafe.SliceData(s.Plain), n}
	return &s.cursor
}

// In57 returns a value with exponent low, for slots without a value.
func In57(low int) float64 { return math.Float64frombits(uint64(low) << 52) }

// Low57 returns the least of the 16 successive exponents that most of the values have, and the
// number of the other values.
func Low57(val []float64) (low, out int) {
	var counts [1 << 11]int
	for _, v := range val {
		counts[math.Float64bits(v)>>52&0x7FF]++
	}
	in, most := 0, 0
	for e, n := range counts {
		in += n
		if e >= codes57 {
			in -= counts[e-codes57]
		}
		if in > most {
			low, most = max(e-codes57+1, 0), in
		}
	}
	return low, len(val) - most
}
