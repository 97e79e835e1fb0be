// The layout of ell, with 8 rows per slice (float64). sparse/ellpack describes the other formats.
//
//	     0 1 2 3 4 5 6 7
//	  0  a . . b . . . .     Stride 8: the number of rows, rounded up to whole slices
//	  1  . c . . . . . .
//	  2  . . d e . . f .             row  0  1  2  3  4  -  -  -
//	  3  g . . . . . . h     Idx          0  1  2  0  4 -1 -1 -1
//	  4  . . . . i . . .                  3 -1  3  7 -1 -1 -1 -1
//	                                     -1 -1  6 -1 -1 -1 -1 -1
//
//	                         Val          a  c  d  g  i  -  -  -
//	                                      b  -  e  h  -  -  -  -
//	                                      -  -  f  -  -  -  -  -
//
//	Entry k of row i is at i + k*Stride. Column -1 marks padding.

package ell

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// NewEll builds a format of the ELLPACK family as sparse/ellpack describes it: ell, ellr, pellr,
// pellr-warp, biell, jad, bijad, hyb or hyb-mean, with as many rows per slice as a 512-bit register
// has lanes; or sell, which is NewSlices. The form does not refer to r. NewEll fails with a
// *sparse.InputError if padding would need too much memory, with kernels.ErrOutOfMemory if r.Mem
// has too little, and with kernels.ErrNotSupported for another name.
func NewEll[V sparse.Value](name kernels.Form, r form.Rows[V]) (form.Form[V], error) {
	if r.Fixed && sparse.Format(name) != ellpack.FormatSELL {
		return nil, sparse.Inputf("format", "%q sums in an order of its own", string(name))
	}
	rows := ellpack.Rows[V]{Ptr: r.Ptr, Idx: r.Idx, Val: r.Val}
	if n := len(r.Ptr); n > 0 {
		rows.First, rows.End = r.Ptr[0], r.Ptr[n-1]
	}
	o := ellpack.Options{
		Height: ellHeight[V](), Serial: true,
		Alloc: func(bytes int64) ([]byte, error) { return form.Make[byte](r.Mem, bytes) },
	}
	base := func(s ellpack.Shape) ellBase {
		return ellBase{shape: s, rows: max(len(r.Ptr)-1, 0), cols: r.Cols, valueBytes: mem.Size[V]()}
	}
	switch f := sparse.Format(name); f {
	case ellpack.FormatELL:
		e, err := ellpack.NewELL(rows, o)
		if err != nil {
			return nil, err
		}
		return &ell[V]{base(e.Shape), e}, nil
	case ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatPELLRWarp:
		e, err := ellpack.NewELLR(f, rows, o)
		if err != nil {
			return nil, err
		}
		return &ellr[V]{base(e.Shape), e}, nil
	case ellpack.FormatBiELL, ellpack.FormatBiJAD:
		e, err := ellpack.NewBisected(f, rows, o)
		if err != nil {
			return nil, err
		}
		return &bisected[V]{base(e.Shape), e}, nil
	case ellpack.FormatJAD:
		e, err := ellpack.NewJAD(rows, o)
		if err != nil {
			return nil, err
		}
		return &jad[V]{base(e.Shape), e}, nil
	case ellpack.FormatHYB, ellpack.FormatHYBMean:
		e, err := ellpack.NewHYB(f, rows, o)
		if err != nil {
			return nil, err
		}
		return &hyb[V]{base(e.Shape), e}, nil
	case ellpack.FormatSELL:
		return slices.NewSlices(r, slices.SliceOptions[V]{Level: simd.Default()})
	}
	return nil, fmt.Errorf("%w: form %q", kernels.ErrNotSupported, name)
}

// ellHeight returns the number of lanes of 512 bits.
func ellHeight[V sparse.Value]() int { return int(64 / mem.Size[V]()) }

// ellBase implements Bytes, Padding and Name for all forms of the family.
type ellBase struct {
	shape      ellpack.Shape
	rows, cols int
	valueBytes int64
}

func (b ellBase) Bytes() int64 { return b.shape.Bytes(b.valueBytes) }

func (b ellBase) Padding() int64 { return b.shape.Padding() }

func (b ellBase) Name() string { return string(b.shape.Format) }

// sums has the sums of the rows of a slice, at most 16.
type sums[V sparse.Value] [16]V

// addFull adds steps entries to each of h rows; h is a multiple of 8. Entry k of lane l is in slot
// k*stride + l. No slot is padding.
func (s *sums[V]) addFull(h int, idx []int32, val, x []V, stride, steps int64) {
	if steps == 0 {
		return
	}
	for l := 0; l < h; l += 8 {
		s0, s1, s2, s3, s4, s5, s6, s7 := s[l], s[l+1], s[l+2], s[l+3], s[l+4], s[l+5], s[l+6], s[l+7]
		for k := range steps {
			at := k*stride + int64(l)
			c, v := (*[8]int32)(idx[at:]), (*[8]V)(val[at:])
			s0 += v[0] * x[c[0]]
			s1 += v[1] * x[c[1]]
			s2 += v[2] * x[c[2]]
			s3 += v[3] * x[c[3]]
			s4 += v[4] * x[c[4]]
			s5 += v[5] * x[c[5]]
			s6 += v[6] * x[c[6]]
			s7 += v[7] * x[c[7]]
		}
		s[l], s[l+1], s[l+2], s[l+3], s[l+4], s[l+5], s[l+6], s[l+7] = s0, s1, s2, s3, s4, s5, s6, s7
	}
}

// addMarked adds one entry to each lane. A negative column marks padding.
func (s *sums[V]) addMarked(idx []int32, val, x []V) {
	val = val[:len(idx)]
	for l, c := range idx {
		if c >= 0 {
			s[l&15] += val[l] * x[c]
		}
	}
}

// store computes y = alpha*sum + beta*y for the h rows from position i on.
func (s *sums[V]) store(alpha, beta V, y []V, perm []int32, i, h int) {
	for l := range min(h, len(y)-i) {
		r := i + l
		if perm != nil {
			r = int(perm[r])
		}
		v := alpha * s[l&15]
		if beta != 0 {
			v += beta * y[r]
		}
		y[r] = v
	}
}
