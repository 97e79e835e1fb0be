package sliced

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

const (
	// Height is the number of rows of a slice.
	Height = 32

	window = 1024      // rows that are sorted together
	sector = 32        // bytes; a slice begins at a multiple
	absent = 1<<16 - 1 // a place of a near slice without an entry
	grain  = 128       // slices that a goroutine takes at a time
)

// Plan describes the slices of rows before they are built.
type Plan[V sparse.Value] struct {
	rows   ellpack.Rows[V]
	layout layout
	short  bool // float32 represents all values exactly
	nnz    int64
}

// layout is an order of rows and the shapes of their slices.
type layout struct {
	perm    []int32 // place i holds row perm[i]; nil keeps the order
	head    []int64 // two for each slice: its start in sectors; its base, steps and kind
	sectors int64   // of all slices
	places  int64
	longest int32 // steps
}

// NewPlan reads the columns of rows once, or twice if sorting may pay. It returns a
// *sparse.InputError if a part has too many rows or a row has too many entries.
func NewPlan[V sparse.Value](r ellpack.Rows[V]) (*Plan[V], error) {
	n := int64(len(r.Ptr) - 1)
	if n > sparse.MaxDim {
		return nil, sparse.Inputf("matrix", "%d rows: slices number at most %d", n, sparse.MaxDim)
	}
	p := &Plan[V]{rows: r, short: Short(r.Val), nnz: r.End - r.First}
	for i := range n {
		if k := p.end(int32(i)) - p.start(int32(i)); k > maxSteps {
			return nil, sparse.Inputf("matrix", "a row of %d entries: slices have at most %d steps", k, maxSteps)
		}
	}
	p.layout = p.arrange(nil)
	if p.layout.places-p.nnz > p.nnz/16 {
		if sorted := p.arrange(p.sorted()); sorted.bytes() < p.layout.bytes() {
			p.layout = sorted
		}
	}
	return p, nil
}

// maxSteps is the largest number of steps that the head of a slice can hold.
const maxSteps = 1<<29 - 1

// bytes returns the memory of a layout.
func (l *layout) bytes() int64 {
	return sector*l.sectors + 8*int64(len(l.head)) + 4*int64(len(l.perm))
}

// Bytes returns the memory of the arrays.
func (p *Plan[V]) Bytes() int64 { return p.layout.bytes() }

// Padding returns the number of places without an entry.
func (p *Plan[V]) Padding() int64 { return p.layout.places - p.nnz }

// Longest returns the largest number of steps of a slice.
func (p *Plan[V]) Longest() int64 { return int64(p.layout.longest) }

// Places returns the number of places for entries.
func (p *Plan[V]) Places() int64 { return p.layout.places }

// start and end return the bounds of row i in Idx and Val.
func (p *Plan[V]) start(i int32) int64 {
	return min(max(p.rows.Ptr[i], p.rows.First), p.rows.End) - p.rows.First
}

func (p *Plan[V]) end(i int32) int64 { return p.start(i + 1) }

// size returns the bytes of a stored value.
func (p *Plan[V]) size() int64 {
	if p.short {
		return 4
	}
	return mem.Size[V]()
}

// arrange computes the shapes of all slices for an order of rows.
func (p *Plan[V]) arrange(perm []int32) layout {
	slices := (int64(len(p.rows.Ptr)-1) + Height - 1) / Height
	l := layout{perm: perm, head: make([]int64, 2*slices)}
	steps := make([]int32, slices)
	par.Range(slices, grain, func(lo, hi int64) {
		var s slicer[V]
		for w := lo; w < hi; w++ {
			s.open(p, perm, w)
			k := s.shape()
			l.head[2*w], steps[w] = k.bytes(p.size())/sector, k.steps
			l.head[2*w+1] = int64(uint32(k.base)) | int64(k.steps<<2|k.kind)<<32
		}
	})
	for w := range slices {
		l.sectors, l.head[2*w] = l.sectors+l.head[2*w], l.sectors
		l.places += Height * int64(steps[w])
		l.longest = max(l.longest, steps[w])
	}
	return l
}

// Short reports whether V is float64 and float32 represents all values exactly.
func Short[V sparse.Value](val []V) bool {
	all, ok := any(val).([]float64)
	if !ok || len(all) == 0 {
		return false
	}
	var not atomic.Bool
	par.Range(int64(len(all)), 1<<16, func(lo, hi int64) {
		for lo < hi && !not.Load() {
			end := min(lo+1<<12, hi)
			for _, v := range all[lo:end] {
				if math.Float64bits(float64(float32(v))) != math.Float64bits(v) {
					not.Store(true)
					return
				}
			}
			lo = end
		}
	})
	return !not.Load()
}

// String describes the plan in a few words.
func (p *Plan[V]) String() string {
	count := [3]int64{}
	for w := 1; w < len(p.layout.head); w += 2 {
		count[p.layout.head[w]>>32&3]++
	}
	text := fmt.Sprintf("slices of 32 rows: %d of diagonals, %d with columns of 16 bits, %d of 32", count[runs], count[near], count[far])
	if p.layout.perm != nil {
		text += fmt.Sprintf("; sorted in windows of %d", window)
	}
	if p.short {
		text += "; values of 4 bytes"
	}
	return text
}
