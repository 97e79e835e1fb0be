package slices

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Slices of every shape; each lane is compared with a sum of its entries one after the other. The
// loops in plain Go have other paths for 4 lanes, for other storages, and for products that are
// rounded once.
func TestSlicesInPlainGoAreSumsOfTheirEntries(t *testing.T) {
	for _, fused := range []bool{false, true} {
		for lanes := 4; lanes <= 16; lanes *= 2 {
			for _, storage := range []form.Storage{form.Full, form.Short, form.Same} {
				t.Run(fmt.Sprint(storage, lanes, fused), func(t *testing.T) {
					plainSlicesTest[float64](t, lanes, storage, fused)
					if storage != form.Short {
						plainSlicesTest[float32](t, lanes, storage, fused)
					}
				})
			}
		}
	}
}

func plainSlicesTest[V sparse.Value](t *testing.T, lanes int, storage form.Storage, fused bool) {
	r := rand.New(rand.NewPCG(uint64(lanes), uint64(storage)))
	x := make([]V, 50)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	bad := len(x)
	x = append(x, V(math.NaN())) // read only by lanes without an entry
	s := Slices[V]{Values: form.Values[V]{Storage: storage, Lanes: lanes, Table: []V{1.5}}, Fused: fused}
	for _, widths := range [][2]int{{0, 0}, {1, 0}, {0, 2}, {70, 3}, {5, 1}, {0, 0}} {
		s.Widths = append(s.Widths, uint32(widths[0]), uint32(widths[1]))
		for c := range widths[0] + widths[1] {
			mask := uint16(1<<lanes - 1)
			if c >= widths[0] {
				mask &= uint16(r.Uint32())
				s.Masks = append(s.Masks, mask)
			}
			for lane := range lanes {
				i := r.IntN(bad)
				if mask>>lane&1 == 0 {
					i = bad
				}
				s.Wide = append(s.Wide, int32(i))
				s.Values.Short = append(s.Values.Short, float32(r.NormFloat64()))
				s.Values.Full = append(s.Values.Full, V(r.NormFloat64()))
			}
		}
	}
	for add, begin := range map[bool]V{false: 0, true: 3} {
		n := len(s.Widths) / 2
		got, want, terms := make([]V, n*lanes), make([]V, n*lanes), make([]V, n*lanes)
		k, mask := 0, 0
		for i := range n {
			for c := range s.Widths[2*i] + s.Widths[2*i+1] {
				have := ^uint16(0)
				if c >= s.Widths[2*i] {
					have = s.Masks[mask]
					mask++
				}
				for lane := range lanes {
					if have>>lane&1 != 0 {
						p := s.Values.At(k) * x[s.Wide[k]]
						want[i*lanes+lane] += p
						terms[i*lanes+lane] += max(p, -p)
					}
					k++
				}
			}
		}
		for i := range want {
			want[i] += begin
			got[i] = 3
		}
		if add {
			AddSlices(simd.Generic, &s, form.Position{}, n, x, got)
		} else {
			MultiplySlices(simd.Generic, &s, form.Position{}, n, x, nil, got)
		}
		eps := V(math.Nextafter(1, 2) - 1)
		if _, single := any(eps).(float32); single {
			eps = V(math.Nextafter32(1, 2) - 1)
		}
		for i := range want {
			require.LessOrEqual(t, math.Abs(float64(got[i]-want[i])), float64(80*eps*(terms[i]+begin)), "lane %d, add %v", i, add)
		}
	}
}
