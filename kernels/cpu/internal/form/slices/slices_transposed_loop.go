package slices

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// AddSlicesTransposed adds the products of n slices from position at on to y:
//
//	y[idx[k]-first] += after * (val[k] * factors[s*Lanes + lane])
//
// for every entry k of lane of slice s. y begins with index first. products is scratch of Lanes
// elements. The slices must have the Lanes of the level, unless it is Generic. Indices are not
// checked. There is assembly only for after = 1; see Factors.
func AddSlicesTransposed[V sparse.Value](l simd.Level, s *Slices[V], at form.Position, n int, after V, factors, y []V, first int, products []V) {
	if n == 0 {
		return
	}
	factors, products = factors[:n*s.Values.Lanes], products[:s.Values.Lanes]
	switch {
	case l != simd.Generic && after == 1:
		wide, idx := s.indices(at)
		prefetchColumns := 0
		if s.Narrow == nil {
			prefetchColumns = (len(s.Wide)-prefetchEntries)/s.Values.Lanes - at.Column
		}
		kernel := simd.ForType[*sliceTransposedTable[V]](sliceTransposedTables)[l.Index()][s.Values.Storage][wide]
		a := &s.transposed
		a.n, a.widths, a.masks = n, &s.Widths[2*at.Slice : 2*(at.Slice+n)][0], unsafe.SliceData(s.Masks[at.Mask:])
		a.val, a.idx, a.table = s.Values.From(at.Column), idx, unsafe.SliceData(s.Values.Table)
		a.factors, a.y, a.first = &factors[0], &y[0], first
		a.prefetchColumns, a.products = prefetchColumns, &products[0]
		kernel(a)
		a.factors, a.y = nil, nil // the slices keep no vector
	case s.Narrow != nil:
		addSlicesTransposed(s, s.Narrow, at, n, after, factors, y, first)
	default:
		addSlicesTransposed(s, s.Wide, at, n, after, factors, y, first)
	}
}

// prefetchEntries is the number of entries by which the kernels prefetch elements of y.
const prefetchEntries = 128

// sliceTransposedTable has kernels by Level.Index, Storage, and whether indices are wide.
type sliceTransposedTable[V sparse.Value] [2][form.Storages][2]func(*sliceTransposedArgs[V])

func addSlicesTransposed[V sparse.Value, I uint16 | int32](s *Slices[V], idx []I, at form.Position, n int, after V, factors, y []V, first int) {
	var room form.Expanded[V]
	lanes := s.Values.Lanes
	k := at.Column * lanes
	for i := range n {
		f := factors[i*lanes : (i+1)*lanes]
		full, masked := int(s.Widths[2*(at.Slice+i)]), int(s.Widths[2*(at.Slice+i)+1])
		for end := k + full*lanes; k < end; {
			val := s.Values.ValuesFrom(k, end-k, &room)
			for c := 0; c < len(val); c += lanes {
				val, idx := val[c:c+lanes], idx[k+c:k+c+lanes]
				for lane, f := range f {
					y[int(idx[lane])-first] += after * (val[lane] * f)
				}
			}
			k += len(val)
		}
		for end := k + masked*lanes; k < end; {
			val := s.Values.ValuesFrom(k, end-k, &room)
			for c := 0; c < len(val); c += lanes {
				for m := s.Masks[at.Mask]; m != 0; m &= m - 1 {
					lane := bits.TrailingZeros16(m)
					y[int(idx[k+c+lane])-first] += after * (val[c+lane] * f[lane])
				}
				at.Mask++
			}
			k += len(val)
		}
	}
}
