package cluster

import (
	"math"

	"github.com/msrep-go/msrep/internal/coarsen"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// extended is the rows of this rank as a square matrix: its unknowns are those of the rank and those of other ranks to whose
// nodes these couple, in their order.
type extended struct {
	rows   *coarsen.Rows
	lo     int     // the first unknown of this rank
	own    int     // unknowns of this rank
	want   wanted  // what ranks send to each other for unknowns of others
	node   []int32 // the number in the whole matrix of each node
	first  []int32 // its first unknown
	nodeLo int     // the first node of this rank
	failed error   // the first error of a message that coarsen asked for
}

// extend makes an extended matrix of a, which is A or A'. All ranks call it.
func (s *coarsening) extend(a *Matrix[float64]) (*extended, error) {
	c, first, end := s.sys.comm, a.First(), a.First()+a.Part.Rows
	halo := remoteColumns(a.Part.ColIdx, a.Cols, first, end).members()
	spans, err := s.spansOf(c, halo)
	if err != nil {
		return nil, err
	}
	e := &extended{own: a.Part.Rows}
	var others []int32 // unknowns of the nodes of halo
	at := int32(0)
	addOwn := func() {
		e.lo, e.nodeLo = int(at), len(e.node)
		for i := range s.nodes {
			lo, end := s.span(i)
			e.node, e.first = append(e.node, int32(s.nodeCut[a.rank]+i)), append(e.first, at)
			at += end - lo
		}
	}
	placed := false
	for k := 0; k < len(spans); k += 3 {
		lo, end, node := spans[k], spans[k+1], spans[k+2]
		if k > 0 && node == spans[k-1] {
			continue
		}
		if !placed && int(lo) >= first {
			addOwn()
			placed = true
		}
		e.node, e.first = append(e.node, node), append(e.first, at)
		for u := lo; u < end; u++ {
			others = append(others, u)
		}
		at += end - lo
	}
	if !placed {
		addOwn()
	}
	if e.want, err = requestHalo(c, a.RowCut, others); err != nil {
		return nil, err
	}
	blocks, err := s.blocks(a).withRows(c, others, e.lo)
	if err != nil {
		return nil, err
	}
	opt := s.opt
	if opt.Nodes = append(e.first[:len(e.first):len(e.first)], at); s.near.nodes == nil {
		opt.Nodes, opt.Block = nil, s.near.block
	}
	m := e.square(a, blocks, others)
	e.rows = coarsen.NewRows(m, opt, coarsen.Processes{
		Rows: a.Rows, Entries: a.NNZ, Lo: e.lo, End: e.lo + e.own, First: first,
		Fetch: func(v []float64) { e.fetch(c, v) },
		Max:   func(x float64) float64 { return e.max(c, x) },
		Sum:   func(part func(lo, hi int) float64) float64 { return e.sum(c, a.RowCut, first, part) },
	})
	return e, nil
}

// spansOf returns for each unknown of other ranks in halo the first unknown of its node, the end, and the number of the
// node. All ranks call it.
func (s *coarsening) spansOf(c Comm, halo []int32) ([]int32, error) {
	spans := make([]int32, 0, 3*len(halo))
	if s.near.nodes == nil {
		b := int32(s.near.block)
		for _, j := range halo {
			spans = append(spans, j/b*b, j/b*b+b, j/b)
		}
		return spans, nil
	}
	w, err := requestHalo(c, s.a.RowCut, halo)
	if err != nil {
		return nil, err
	}
	from := int32(s.a.First())
	own := make([]int32, 0, 3*s.a.Part.Rows)
	for i := range s.nodes {
		lo, end := s.span(i)
		for range end - lo {
			own = append(own, from+lo, from+end, int32(s.nodeCut[s.a.rank]+i))
		}
	}
	return swapped(c, w, own, 3)
}

// square returns the matrix: the rows of a, and the rows of blocks of other ranks.
func (e *extended) square(a *Matrix[float64], blocks *sparse.CSR[float64], others []int32) *sparse.CSR[float64] {
	first, end := int32(a.First()), int32(a.First()+a.Part.Rows)
	set := remoteColumns(others, a.Cols, int(first), int(end))
	n := e.own + len(others)
	m := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, 1, n+1)}
	add := func(b *sparse.CSR[float64], from, to int) {
		k0, k1, at := b.RowPtr[from], b.RowPtr[to], m.NNZ()
		for i := from; i < to; i++ {
			m.RowPtr = append(m.RowPtr, at+b.RowPtr[i+1]-k0)
		}
		m.Val = append(m.Val, b.Val[k0:k1]...)
		for _, j := range b.ColIdx[k0:k1] {
			switch {
			case j < first:
				j = set.number(j)
			case j < end:
				j += int32(e.lo) - first
			default:
				j = set.number(j) + int32(e.own)
			}
			m.ColIdx = append(m.ColIdx, j)
		}
	}
	nnz := a.Part.NNZ() + blocks.NNZ()
	m.ColIdx, m.Val = make([]int32, 0, nnz), make([]float64, 0, nnz)
	add(blocks, 0, e.lo)
	add(a.Part, 0, e.own)
	add(blocks, e.lo+e.own, n)
	return m
}

// swapped returns the elements of other ranks that w asks for, per for each unknown. own has those of this rank. All ranks
// call it.
func swapped[T mem.Elem](c Comm, w wanted, own []T, per int) ([]T, error) {
	send := make([][]byte, c.Size())
	for _, r := range w.out {
		v := make([]T, 0, per*len(r.idx))
		for _, i := range r.idx {
			v = append(v, own[int(i)*per:(int(i)+1)*per]...)
		}
		send[r.rank] = mem.Bytes(v)
	}
	received, err := c.Swap(send)
	if err != nil {
		return nil, err
	}
	got := make([]T, 0, per*length(w.in))
	for _, r := range w.in {
		v, ok := mem.Slice[T](received[r.rank], int64(per)*int64(r.n))
		if !ok {
			return nil, errMessage
		}
		got = append(got, v...)
	}
	return got, nil
}

// fetched returns per elements for each unknown of e: those of this rank are own. All ranks call it.
func fetched[T mem.Elem](e *extended, c Comm, own []T, per int) ([]T, error) {
	got, err := swapped(c, e.want, own, per)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(got)+len(own))
	out = append(out, got[:e.lo*per]...)
	out = append(out, own...)
	return append(out, got[e.lo*per:]...), nil
}

// fetch sets the elements of v that other ranks have.
func (e *extended) fetch(c Comm, v []float64) {
	got, err := swapped(c, e.want, v[e.lo:e.lo+e.own], 1)
	if err != nil {
		e.keep(err)
		return
	}
	copy(v, got[:e.lo])
	copy(v[e.lo+e.own:], got[e.lo:])
}

func (e *extended) keep(err error) {
	if e.failed == nil {
		e.failed = err
	}
}

// max returns the maximum of x over all ranks.
func (e *extended) max(c Comm, x float64) float64 {
	if math.IsNaN(x) {
		x = math.Inf(1)
	}
	v := []float64{x}
	if err := c.Max(v); err != nil {
		e.keep(err)
	}
	return v[0]
}

// sum returns the sum of part over all ranks with the bits of one process: it adds up chunks of the whole vector. A rank
// sends the terms before its first chunk to the rank where their chunk begins.
func (e *extended) sum(c Comm, cut []int, first int, part func(lo, hi int) float64) float64 {
	lead := min((coarsen.Chunk-first%coarsen.Chunk)%coarsen.Chunk, e.own)
	terms := make([]float64, lead)
	for i := range terms {
		terms[i] = part(e.lo+i, e.lo+i+1)
	}
	send := make([][]byte, c.Size())
	if lead > 0 {
		send[owner(cut, first-first%coarsen.Chunk)] = mem.Bytes(terms)
	}
	sums := make([]float64, (e.own-lead+coarsen.Chunk-1)/coarsen.Chunk)
	par.Do(len(sums), func(k int) {
		lo := e.lo + lead + k*coarsen.Chunk
		sums[k] = part(lo, min(lo+coarsen.Chunk, e.lo+e.own))
	})
	received, err := c.Swap(send)
	if err != nil {
		e.keep(err)
		return 0
	}
	for _, b := range received {
		v, _ := mem.Slice[float64](b, int64(len(b)/8))
		for _, x := range v {
			sums[len(sums)-1] += x
		}
	}
	all, err := gatherAll(c, sums)
	if err != nil {
		e.keep(err)
		return 0
	}
	total := 0.0
	for _, x := range all {
		total += x
	}
	return total
}
