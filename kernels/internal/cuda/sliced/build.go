package sliced

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Matrix holds the arrays for the kernels.
type Matrix struct {
	// Data holds the slices, in words of 8 bytes.
	Data []int64
	// Head has two words for each slice: its start in Data, in sectors of 32 bytes; and
	// its base (bits 0 ... 31), kind (32, 33) and steps (34 ... 62).
	Head []int64
	// Perm maps places to rows: place i holds row Perm[i]. It is nil if rows keep their
	// order.
	Perm []int32
	// Short means that float64 values are stored as float32.
	Short bool
}

// Build fills the arrays with several goroutines. The caller must have checked that
// Bytes of memory are available.
func (p *Plan[V]) Build() *Matrix {
	m := &Matrix{Data: make([]int64, p.layout.sectors*sector/8), Head: p.layout.head, Perm: p.layout.perm, Short: p.short}
	par.Range(int64(len(m.Head)/2), grain, func(lo, hi int64) {
		var s slicer[V]
		for w := lo; w < hi; w++ {
			s.open(p, m.Perm, w)
			if p.short {
				fill[float32](&s, m, w)
			} else {
				fill[V](&s, m, w)
			}
		}
	})
	return m
}

// words returns the n elements that begin at a byte offset in data.
func words[T mem.Elem](data []int64, bytes, n int64) []T {
	s, _ := mem.Slice[T](mem.Bytes(data)[bytes:], n)
	return s
}

// fill writes slice w, with values stored as T.
func fill[T, V sparse.Value](s *slicer[V], m *Matrix, w int64) {
	shape := int32(m.Head[2*w+1] >> 32)
	kind, n := shape&3, Height*int64(shape>>2)
	if n == 0 {
		return
	}
	data := m.Data[m.Head[2*w]*sector/8:]
	val, columns := words[T](data, 0, n), n*mem.Size[T]()
	switch kind {
	case runs:
		fillRuns(s, val, words[int32](data, columns, 2*n/Height))
	case near:
		base, to := int32(m.Head[2*w+1]), words[uint16](data, columns, n)
		for i := range to {
			to[i] = absent
		}
		for l := range Height {
			from, v := s.entries(l)
			for k, c := range from {
				to[Height*k+l], val[Height*k+l] = uint16(c-base), T(v[k])
			}
		}
	default:
		to := words[int32](data, columns, n)
		for i := range to {
			to[i] = -1
		}
		for l := range Height {
			from, v := s.entries(l)
			for k, c := range from {
				to[Height*k+l], val[Height*k+l] = c, T(v[k])
			}
		}
	}
}

// fillRuns fills a slice of kind runs: pairs gets the column of lane 0 and the mask of
// each step.
func fillRuns[T, V sparse.Value](s *slicer[V], val []T, pairs []int32) {
	s.findRuns(len(pairs) / 2)
	for k, c := range s.first {
		pairs[2*k] = c
	}
	for l := range Height {
		from, v := s.entries(l)
		step := 0
		for k, c := range from {
			for s.first[step] < c-int32(l) {
				step++
			}
			pairs[2*step+1] |= 1 << l
			val[Height*step+l] = T(v[k])
		}
	}
}
