package slices

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

func TestSlicesSumTheSameWithAnyPrefetching(t *testing.T) {
	for _, l := range simd.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			for _, near := range []bool{false, true} {
				slicesAheadTest[float64](t, l, near)
				slicesAheadTest[float32](t, l, near)
			}
		})
	}
}

func slicesAheadTest[V sparse.Value](t *testing.T, l simd.Level, near bool) {
	const slices, columns = 5, 3
	lanes := simd.Lanes[V](l)
	n := slices * columns * lanes
	s := Slices[V]{Values: form.Values[V]{Lanes: lanes, Full: make([]V, n)}, Narrow: make([]uint16, n), Near: near}
	x := make([]V, 64)
	for i := range x {
		x[i] = V(i*i%7) - 3
	}
	for k := range s.Values.Full {
		s.Values.Full[k], s.Narrow[k] = V(k%11-5), uint16(13*k%len(x))
	}
	for range slices {
		s.Widths = append(s.Widths, columns, 0)
	}
	perLine := 64 / int(unsafe.Sizeof(x[0]))
	for of := range slices + 1 {
		for _, ahead := range []int{0, 1, perLine, of*perLine - 1, of * perLine, of*perLine + 1, 1000} {
			want, got := make([]V, slices*lanes), make([]V, slices*lanes)
			for i := range want {
				if want[i], got[i] = 9, 9; i >= of*lanes {
					continue
				}
				want[i] = 0
				for c := range columns {
					k := (i/lanes*columns+c)*lanes + i%lanes
					want[i] += s.Values.Full[k] * x[s.Narrow[k]]
				}
			}
			MultiplySlices(l, &s, form.Position{}, of, x, make([]V, max(ahead, 0)), got)
			require.Equal(t, want, got, fmt.Sprintf("%d slices, %d elements ahead", of, ahead))
		}
	}
}

func TestMultiplySlicesToRowsStoresResultsInTheirRows(t *testing.T) {
	for _, l := range simd.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			for _, near := range []bool{false, true} {
				for _, wide := range []bool{false, true} {
					slicesPutTest[float64](t, l, near, wide)
					slicesPutTest[float32](t, l, near, wide)
				}
			}
		})
	}
}

// slicesPutTest compares bits with those of Finish, for full columns and some masked ones, and for
// sums that are NaN.
func slicesPutTest[V sparse.Value](t *testing.T, l simd.Level, near, wide bool) {
	const slices, columns = 7, 5
	r := rand.New(rand.NewPCG(1, 2))
	lanes := simd.Lanes[V](l)
	n := slices * columns * lanes
	s := Slices[V]{Values: form.Values[V]{Lanes: lanes, Full: make([]V, n)}, Near: near}
	x := make([]V, 64)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	x[7], x[8] = V(math.Inf(1)), V(math.NaN())
	for k := range s.Values.Full {
		s.Values.Full[k] = V(r.NormFloat64())
		if c := r.IntN(len(x)); wide {
			s.Wide = append(s.Wide, int32(c))
		} else {
			s.Narrow = append(s.Narrow, uint16(c))
		}
	}
	for i := range uint32(slices) {
		s.Widths = append(s.Widths, columns-i%3, i%3)
		for range i % 3 {
			s.Masks = append(s.Masks, uint16(r.Uint32())&(1<<lanes-1))
		}
	}
	rows := make([]uint16, slices*lanes+5) // the last ones are in no slice
	for i, row := range r.Perm(len(rows)) {
		rows[i] = uint16(row)
	}
	for _, alpha := range []V{1, -2.5, 0, V(math.NaN())} {
		sums, room := make([]V, slices*lanes), make([]V, slices*lanes)
		MultiplySlices(l, &s, form.Position{}, slices, x, nil, sums)
		want, got := make([]V, len(rows)), make([]V, len(rows))
		for i := range want {
			want[i], got[i] = 9, 9
		}
		form.StoreRows(l, alpha, 0, sums, room, false)
		for i, v := range room {
			want[rows[i]] = v
		}
		MultiplySlicesToRows(l, &s, form.Position{}, slices, x, nil, sums, alpha, rows, got)
		require.Equal(t, bitsOf(want), bitsOf(got), "alpha %v", alpha)
		MultiplySlicesToRows(l, &s, form.Position{}, 0, x, nil, nil, alpha, rows, nil)
	}
}

func bitsOf[V sparse.Value](v []V) (bits []uint64) {
	for _, f := range v {
		bits = append(bits, math.Float64bits(float64(f)))
	}
	return bits
}
