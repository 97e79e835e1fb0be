package msrep

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Copy computes v = x. The two vectors may have different pieces.
func (v *Vector[V]) Copy(x *Vector[V]) (err error) {
	defer rescue(&err)
	if v == x {
		return nil
	}
	if x != nil && v != nil && v.Len() != x.Len() {
		return sparse.Inputf("x", "%d elements: the vector that it is copied to has %d", x.Len(), v.Len())
	}
	return v.withStreams([]*Vector[V]{x}, func(l *vectorStreams) error { return v.copyAcross(l, x) })
}

// copyAcross copies each piece of v from the pieces of x that have its elements.
func (v *Vector[V]) copyAcross(l *vectorStreams, x *Vector[V]) error {
	same := slices.Equal(v.cuts, x.cuts)
	if !same { // other devices must finish writing x
		if err := l.barrier(everyDevice); err != nil {
			return err
		}
	}
	err := l.eachDevice(func(i int) error { return copyRange(l.streams[i], v.pieces[i], v.cuts[i], v.cuts[i+1], x) })
	if err != nil || same {
		return err
	}
	return l.barrier(everyDevice) // before the next operation writes to x
}

// copyRange copies the elements [lo, hi) of x to the start of an array.
func copyRange[V sparse.Value](s kernels.Stream, to kernels.Array[V], lo, hi int, x *Vector[V]) error {
	size := mem.Size[V]()
	for j, piece := range x.pieces {
		a, b := max(lo, x.cuts[j]), min(hi, x.cuts[j+1])
		if a >= b {
			continue
		}
		err := s.Copy(to.Buf, to.Off+int64(a-lo)*size, piece.Buf, piece.Off+int64(a-x.cuts[j])*size, int64(b-a)*size)
		if err != nil {
			return err
		}
	}
	return nil
}
