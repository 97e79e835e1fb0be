package cpms

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// checkMemory refuses n values of the given size if they do not fit into memory.
func checkMemory(n, bytes int64) error {
	if have, ok := mem.Fits(saturate.Mul(n, bytes)); !ok {
		return sparse.Inputf("n", "%d values of %d bytes: %d bytes are available", n, bytes, have)
	}
	return nil
}

// Array holds n float64 values in segments, in 8n bytes. Several goroutines may read
// values at once, and write different values at once.
type Array struct {
	layout Layout
	n      int
	per    int // values in a chunk, which holds one bank of each segment
	mem    []uint64
	s32    []uint32 // mem as segments of 32 bits, if Segments is 2
	s16    []uint16 // mem as segments of 16 bits, if Segments is 4
}

// New returns an array of n zeros. Errors are *sparse.InputError, also if the values do
// not fit into memory.
func New(n int, l Layout) (*Array, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, sparse.Inputf("n", "%d values: use 0 or more", n)
	}
	if err := checkMemory(int64(n), 8); err != nil {
		return nil, err
	}
	return newArray(make([]uint64, n), l), nil
}

// newArray returns an Array that uses the memory m.
func newArray(m []uint64, l Layout) *Array {
	a := &Array{layout: l, n: len(m), per: l.PerBank(), mem: m}
	if l.Bank == Separated {
		a.per = max(a.n, 1)
	}
	b := mem.Bytes(m)
	if l.Segments == 2 {
		a.s32, _ = mem.Slice[uint32](b, 2*int64(a.n))
	} else {
		a.s16, _ = mem.Slice[uint16](b, 4*int64(a.n))
	}
	return a
}

// Len returns the number of values.
func (a *Array) Len() int { return a.n }

// place returns the index of segment 0 of value i and the distance to its next segment.
// The last chunk has only the values that remain and no gaps.
func (a *Array) place(i int) (at, step int) {
	first := i - i%a.per
	return first*a.layout.Segments + i%a.per, min(a.per, a.n-first)
}

// At returns value i, read from its first k segments, 1 <= k <= Layout.Segments. It panics,
// as Set, Read, Write and Run do, if i or k is out of range.
func (a *Array) At(i, k int) float64 {
	a.check(i, 1, k)
	at, step := a.place(i)
	return math.Float64frombits(a.load(at, step, k))
}

func (a *Array) load(at, step, k int) (u uint64) {
	if a.s32 != nil {
		for s := range k {
			u |= uint64(a.s32[at+s*step]) << (32 - 32*s)
		}
		return u
	}
	for s := range k {
		u |= uint64(a.s16[at+s*step]) << (48 - 16*s)
	}
	return u
}

// Set sets value i to v, rounded to k segments. The other segments do not change.
func (a *Array) Set(i, k int, v float64, r Rounding) {
	a.check(i, 1, k)
	at, step := a.place(i)
	a.store(at, step, k, keep(math.Float64bits(v), k*a.layout.Bits(), r))
}

func (a *Array) store(at, step, k int, u uint64) {
	if a.s32 != nil {
		for s := range k {
			a.s32[at+s*step] = uint32(u >> (32 - 32*s))
		}
		return
	}
	for s := range k {
		a.s16[at+s*step] = uint16(u >> (48 - 16*s))
	}
}

// Read fills dst with the values first, first+1, ..., each read from its first k segments.
func (a *Array) Read(dst []float64, first, k int) {
	a.check(first, len(dst), k)
	for i := range dst {
		at, step := a.place(first + i)
		dst[i] = math.Float64frombits(a.load(at, step, k))
	}
}

// Write sets the first k segments of the values first, first+1, ... to those of src.
func (a *Array) Write(src []float64, first, k int, r Rounding) {
	a.check(first, len(src), k)
	bits := k * a.layout.Bits()
	for i, v := range src {
		at, step := a.place(first + i)
		a.store(at, step, k, keep(math.Float64bits(v), bits, r))
	}
}

func (a *Array) check(first, n, k int) {
	if k < 1 || k > a.layout.Segments || first < 0 || n > a.n-first {
		panic(fmt.Sprintf("cpms: values [%d, %d) and %d segments of an array of %d values of %d segments", first, first+n, k, a.n, a.layout.Segments))
	}
}

// Run returns the position of the values from first on, for kernels that read them. For i
// < run, segment s of value first+i is element at+s*step+i of Segments32 or Segments16.
// The run ends with the bank.
func (a *Array) Run(first int) (at, step, run int) {
	a.check(first, 1, 1)
	at, step = a.place(first)
	return at, step, step - first%a.per
}

// Segments32 returns the memory of an array with 2 segments, or nil.
func (a *Array) Segments32() []uint32 { return a.s32 }

// Segments16 returns the memory of an array with 4 segments, or nil.
func (a *Array) Segments16() []uint16 { return a.s16 }
