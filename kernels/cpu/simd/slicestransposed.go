package simd

import "github.com/msrep-go/msrep/sparse"

// AddSlicesTransposed adds the products of n slices from a position on to elements of y:
//
//	y[idx[k]-first] += after * (val[k] * factors[s*Lanes + lane])
//
// for every entry k of lane of slice s. first is the index of y's first element, and
// products scratch of Lanes elements. The level must be the one whose Lanes the slices
// have, or Generic. Indices are not checked. It is fast where after is 1; see Factors.
func AddSlicesTransposed[V sparse.Value](l Level, s *Slices[V], at Position, n int, after V, factors, y []V, first int, products []V) {
	if n == 0 {
		return
	}
	factors, products = factors[:n*s.Values.Lanes], products[:s.Values.Lanes]
	switch {
	case l != Generic && after == 1:
		slicesTransposedAssembly(l, s, at, n, factors, y, first, products)
	case s.Narrow != nil:
		addSlicesTransposed(s, s.Narrow, at, n, after, factors, y, first)
	default:
		addSlicesTransposed(s, s.Wide, at, n, after, factors, y, first)
	}
}

func addSlicesTransposed[V sparse.Value, I uint16 | int32](s *Slices[V], idx []I, at Position, n int, after V, factors, y []V, first int) {
	lanes := s.Values.Lanes
	k := at.Column * lanes
	for i := range n {
		f := factors[i*lanes : (i+1)*lanes]
		full, masked := s.Widths[2*(at.Slice+i)], s.Widths[2*(at.Slice+i)+1]
		for range full {
			for lane, f := range f {
				y[int(idx[k+lane])-first] += after * (s.Values.At(k+lane) * f)
			}
			k += lanes
		}
		for range masked {
			mask := s.Masks[at.Mask]
			for lane, f := range f {
				if mask>>lane&1 != 0 {
					y[int(idx[k+lane])-first] += after * (s.Values.At(k+lane) * f)
				}
			}
			k += lanes
			at.Mask++
		}
	}
}
