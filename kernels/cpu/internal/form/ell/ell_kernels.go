package ell

import (
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// The forms of the ELLPACK family, each with its loop over slices of h rows.

type ell[V sparse.Value] struct {
	ellBase
	*ellpack.ELL[V]
}

func (e *ell[V]) Multiply(alpha, beta V, x, y []V) { multiplyELL(e.ELL, alpha, beta, x, y[:e.rows]) }

func multiplyELL[V sparse.Value](e *ellpack.ELL[V], alpha, beta V, x, y []V) {
	h := ellHeight[V]()
	for i := 0; i < len(y); i += h {
		var s sums[V]
		for at := int64(i); at < int64(len(e.Idx)); at += e.Stride {
			s.addMarked(e.Idx[at:at+int64(h)], e.Val[at:], x)
		}
		s.store(alpha, beta, y, nil, i, h)
	}
}

type ellr[V sparse.Value] struct {
	ellBase
	*ellpack.ELLR[V]
}

func (e *ellr[V]) Multiply(alpha, beta V, x, y []V) {
	y = y[:e.rows]
	h := ellHeight[V]()
	for i, w := 0, 0; i < len(y); i, w = i+h, w+1 {
		at := int64(i)
		if e.Start != nil {
			at = e.Start[w]
		}
		var s sums[V]
		if e.ByWarp {
			for range e.Length[w] {
				s.addMarked(e.Idx[at:at+int64(h)], e.Val[at:], x)
				at += e.Stride
			}
			s.store(alpha, beta, y, e.Perm, i, h)
			continue
		}
		lengths := e.Length[i:min(i+h, len(y))]
		full := shortest(lengths, h)
		s.addFull(h, e.Idx[min(at, int64(len(e.Idx))):], e.Val[min(at, int64(len(e.Val))):], x, e.Stride, full)
		for l, n := range lengths {
			for k := full; k < int64(n); k++ {
				p := at + int64(l) + k*e.Stride
				s[l&15] += e.Val[p] * x[e.Idx[p]]
			}
		}
		s.store(alpha, beta, y, e.Perm, i, h)
	}
}

// shortest returns the number of steps in which all h lanes have an entry.
func shortest(lengths []int32, h int) int64 {
	if len(lengths) < h {
		return 0
	}
	n := lengths[0]
	for _, m := range lengths {
		n = min(n, m)
	}
	return int64(n)
}

type bisected[V sparse.Value] struct {
	ellBase
	*ellpack.Bisected[V]
}

func (e *bisected[V]) Multiply(alpha, beta V, x, y []V) {
	y = y[:e.rows]
	h := ellHeight[V]()
	for i, w := 0, 0; i < len(y); i, w = i+h, w+1 {
		var s sums[V]
		start := e.Start[w*e.Groups : (w+1)*e.Groups+1]
		// From the last group, in which all lanes belong to the first rows, to the first group.
		for g := e.Groups - 1; g >= 0; g-- {
			for at := start[g]; at < start[g+1]; at += int64(h) {
				s.addMarked(e.Idx[at:at+int64(h)], e.Val[at:], x)
			}
			// Add the sums of the upper half of the lanes to those of the same rows in the lower
			// half.
			if g > 0 {
				s.fold(h >> g)
			}
		}
		s.store(alpha, beta, y, e.Perm, i, h)
	}
}

// fold changes the lanes from n rows, where lane l has row l mod n, to 2n rows: it adds lane l+n to
// lane l for each l with l&n = 0, and clears lane l+n.
func (s *sums[V]) fold(n int) {
	for l := range s {
		if l&n == 0 && l+n < len(s) {
			s[l] += s[l+n]
			s[l+n] = 0
		}
	}
}

type jad[V sparse.Value] struct {
	ellBase
	*ellpack.JAD[V]
}

func (e *jad[V]) Multiply(alpha, beta V, x, y []V) {
	y = y[:e.rows]
	h := ellHeight[V]()
	for i := 0; i < len(y); i += h {
		var s sums[V]
		for k, at := range e.Start[:len(e.Start)-1] {
			at += int64(i)
			n := int(min(int64(h), e.Start[k+1]-at))
			if n <= 0 {
				break
			}
			if n == h {
				s.addFull(h, e.Idx[at:], e.Val[at:], x, 0, 1)
				continue
			}
			for l := range n {
				s[l&15] += e.Val[at+int64(l)] * x[e.Idx[at+int64(l)]]
			}
		}
		s.store(alpha, beta, y, e.Perm, i, h)
	}
}

type hyb[V sparse.Value] struct {
	ellBase
	*ellpack.HYB[V]
}

func (e *hyb[V]) Multiply(alpha, beta V, x, y []V) {
	y = y[:e.rows]
	multiplyELL(&e.ELL, alpha, beta, x, y)
	for k := 0; k < len(e.Row); {
		r := e.Row[k]
		var s V
		for ; k < len(e.Row) && e.Row[k] == r; k++ {
			s += e.RestVal[k] * x[e.Col[k]]
		}
		y[r] += alpha * s
	}
}
