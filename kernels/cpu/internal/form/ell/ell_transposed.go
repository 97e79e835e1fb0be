package ell

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// Transposed products of the ELLPACK family add to any element of y, in the order of the entries in
// Multiply.

// SlowTransposed implements SlowTransposed.
func (ellBase) SlowTransposed() {}

func (e *ell[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	if y := allOfY(e.ellBase, to); y != nil {
		addELL(e.ELL, alpha, x[:e.rows], y)
	}
}

func addELL[V sparse.Value](e *ellpack.ELL[V], alpha V, x, y []V) {
	h := ellHeight[V]()
	for i := 0; i < len(x); i += h {
		f := factorsOf(x, nil, i, h)
		for at := int64(i); at < int64(len(e.Idx)); at += e.Stride {
			f.addTo(y, alpha, e.Idx[at:at+int64(h)], e.Val[at:])
		}
	}
}

func (e *ellr[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	y := allOfY(e.ellBase, to)
	if y == nil {
		return
	}
	h := ellHeight[V]()
	for i, w := 0, 0; i < e.rows; i, w = i+h, w+1 {
		at := int64(i)
		if e.Start != nil {
			at = e.Start[w]
		}
		steps := e.Length[w : w+1]
		if !e.ByWarp {
			steps = e.Length[i:min(i+h, e.rows)]
		}
		f := factorsOf(x, e.Perm, i, h)
		for range slices.Max(steps) {
			f.addTo(y, alpha, e.Idx[at:at+int64(h)], e.Val[at:])
			at += e.Stride
		}
	}
}

func (e *bisected[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	y := allOfY(e.ellBase, to)
	if y == nil {
		return
	}
	h := ellHeight[V]()
	for i, w := 0, 0; i < e.rows; i, w = i+h, w+1 {
		f := factorsOf(x, e.Perm, i, h)
		for g := range e.Groups {
			for l := range h { // all lanes belong to the first rows
				f[l] = f[l&(h>>g-1)]
			}
			for at := e.Start[w*e.Groups+g]; at < e.Start[w*e.Groups+g+1]; at += int64(h) {
				f.addTo(y, alpha, e.Idx[at:at+int64(h)], e.Val[at:])
			}
		}
	}
}

func (e *jad[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	y := allOfY(e.ellBase, to)
	if y == nil {
		return
	}
	h := ellHeight[V]()
	for i := 0; i < e.rows; i += h {
		f := factorsOf(x, e.Perm, i, h)
		for k, at := range e.Start[:len(e.Start)-1] {
			at += int64(i)
			n := min(int64(h), e.Start[k+1]-at)
			if n <= 0 {
				break
			}
			f.addTo(y, alpha, e.Idx[at:at+n], e.Val[at:])
		}
	}
}

func (e *hyb[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	y := allOfY(e.ellBase, to)
	if y == nil {
		return
	}
	addELL(&e.ELL, alpha, x[:e.rows], y)
	for k, r := range e.Row {
		y[e.Col[k]] += alpha * (e.RestVal[k] * x[r])
	}
}

// allOfY returns all of y, or nil if there are no entries.
func allOfY[V sparse.Value](b ellBase, to func(lo, hi int) []V) []V {
	if b.shape.NNZ == 0 {
		return nil
	}
	return to(0, b.cols)
}

// factorsOf returns the elements of x of the rows in the h positions from i on.
func factorsOf[V sparse.Value](x []V, perm []int32, i, h int) (f sums[V]) {
	if perm == nil {
		copy(f[:h], x[i:])
		return f
	}
	for l, r := range perm[i:min(i+h, len(perm))] {
		f[l&15] = x[r]
	}
	return f
}

// addTo adds the product of one entry of each lane to y. A negative column marks padding.
func (s *sums[V]) addTo(y []V, alpha V, idx []int32, val []V) {
	val = val[:len(idx)]
	for l, c := range idx {
		if c >= 0 {
			y[c] += alpha * (val[l] * s[l&15])
		}
	}
}
