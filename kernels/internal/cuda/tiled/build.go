package tiled

import (
	"sync"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Matrix holds the arrays for the kernels. Round r of the matrix has the places [512 r, 512 (r+1)) of Val or Short, and
// Code.
type Matrix[V sparse.Value] struct {
	Val   []V
	Short []float32 // in place of Val, if float32 represents all float64 values
	Code  []int32
	Base  []int32 // of each 32 places: the least column
	// Head has three words for each tile: its first round; the index of its first row in Sum; and its first row times
	// 2, plus 1 if the row begins in an earlier tile. Three more words end the last tile.
	Head []int64
	// Sum has the first sum of each row of a tile, and the end of the last one's. Tiles follow each other.
	Sum []int32
	// Cut means that a tile continues a row of an earlier one.
	Cut bool
	// Places is the number of places.
	Places int64
}

// Bytes returns the memory of the arrays.
func (m *Matrix[V]) Bytes() int64 {
	return int64(len(m.Val))*mem.Size[V]() + 4*int64(len(m.Short)+len(m.Code)+len(m.Base)+len(m.Sum)) + 8*int64(len(m.Head))
}

// Header returns a matrix without Places, Val, Short, Code and Base, and without the first rounds in Head.
func (p *Plan[V]) Header() *Matrix[V] {
	m := &Matrix[V]{Cut: p.cut, Sum: p.sum, Head: make([]int64, 3*len(p.tiles)+3)}
	at := int64(0)
	for i, t := range p.tiles {
		m.Head[3*i+1], m.Head[3*i+2] = at, 2*int64(t.row)
		if t.begun {
			m.Head[3*i+2]++
		}
		at += int64(len(t.sum))
	}
	m.Head[3*len(p.tiles)+1] = at
	return m
}

// SetRounds sets Places, and the first rounds in Head, for the number of rounds of each tile.
func (m *Matrix[V]) SetRounds(rounds []int64) {
	first := int64(0)
	for t, n := range rounds {
		m.Head[3*t] = first
		first += n
	}
	m.Head[3*len(rounds)] = first
	m.Places = first * Round
}

// Build arranges the entries, with several goroutines; stop may end it with an error. It takes about 60 bytes for each
// entry of the tiles that are built at a time, besides the arrays.
func (p *Plan[V]) Build(stop func() error) (*Matrix[V], error) {
	m := p.Header()
	built := make([]piece[V], len(p.tiles))
	var mu sync.Mutex
	var failed error
	par.Range(int64(len(p.tiles)), 1, func(lo, hi int64) {
		d := arranger[V]{Plan: p}
		for t := lo; t < hi; t++ {
			mu.Lock()
			if failed == nil && stop != nil {
				failed = stop()
			}
			ended := failed != nil
			mu.Unlock()
			if ended {
				return
			}
			built[t] = p.encode(d.arrange(&p.tiles[t]))
		}
	})
	if failed != nil {
		return nil, failed
	}
	rounds := make([]int64, len(built))
	for t := range built {
		rounds[t] = int64(len(built[t].code) / Round)
	}
	m.SetRounds(rounds)
	m.Val, m.Short = join(built, func(b *piece[V]) []V { return b.val }), join(built, func(b *piece[V]) []float32 { return b.short })
	m.Code, m.Base = join(built, func(b *piece[V]) []int32 { return b.code }), join(built, func(b *piece[V]) []int32 { return b.base })
	return m, nil
}

// piece is the arrays of one tile.
type piece[V sparse.Value] struct {
	val        []V
	short      []float32
	code, base []int32
}

// join returns the concatenation of one array of all tiles; nil if they have none.
func join[T any, V sparse.Value](built []piece[V], of func(b *piece[V]) []T) []T {
	n := 0
	for i := range built {
		n += len(of(&built[i]))
	}
	if n == 0 {
		return nil
	}
	all := make([]T, 0, n)
	for i := range built {
		all = append(all, of(&built[i])...)
	}
	return all
}

// encode returns the arrays for the places of a tile.
func (p *Plan[V]) encode(places []place) piece[V] {
	b := piece[V]{code: make([]int32, len(places)), base: make([]int32, len(places)/chunk)}
	if p.short {
		b.short = make([]float32, len(places))
	} else {
		b.val = make([]V, len(places))
	}
	for i, q := range places {
		if i%chunk == 0 && q.entry >= 0 {
			b.base[i/chunk] = q.column
		}
		b.code[i] = q.sum << 16
		if q.entry < 0 {
			continue
		}
		b.code[i] |= q.column - b.base[i/chunk]
		if v := p.rows.Val[q.entry]; p.short {
			b.short[i] = float32(v)
		} else {
			b.val[i] = v
		}
	}
	return b
}
