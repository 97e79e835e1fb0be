package simd

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestSlicesSumTheSameWhateverTheyAskForAhead(t *testing.T) {
	for l := Generic; l <= Best(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			for _, near := range []bool{false, true} {
				slicesAheadTest[float64](t, l, near)
				slicesAheadTest[float32](t, l, near)
			}
		})
	}
}

func slicesAheadTest[V sparse.Value](t *testing.T, l Level, near bool) {
	const slices, columns = 5, 3
	lanes := Lanes[V](l)
	n := slices * columns * lanes
	s := Slices[V]{Values: Values[V]{Lanes: lanes, Full: make([]V, n)}, Narrow: make([]uint16, n), Near: near}
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
			MultiplySlices(l, &s, Position{}, of, x, make([]V, max(ahead, 0)), got)
			require.Equal(t, want, got, fmt.Sprintf("%d slices, %d elements ahead", of, ahead))
		}
	}
}
