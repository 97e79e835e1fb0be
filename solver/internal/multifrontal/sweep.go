package multifrontal

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

const (
	// minShared is the number of elements of the factors from which several goroutines pay in a solve.
	minShared = 1 << 20
	// sharedPieces is about the number of pieces of the tree that they solve. It does not depend on the number of
	// goroutines, since the order of additions depends on the pieces.
	sharedPieces = 64
)

// cutSolve cuts the tree for solves: pieces that goroutines solve at the same time, and the supernodes above them.
func (s *Analysis) cutSolve() {
	for _, f := range s.front {
		s.largest = max(s.largest, f.rows())
	}
	if s.Stored() < minShared {
		return
	}
	t := s.cut(s.stored / sharedPieces)
	inPiece := make([]bool, len(s.parent))
	for _, p := range t.pieces {
		for i := p.lo; i < p.hi; i++ {
			inPiece[i] = true
		}
	}
	for i, in := range inPiece {
		if !in {
			s.above = append(s.above, int32(i))
		}
	}
	s.pieces = t.pieces
}

// forward calls one for each supernode, children first. one solves with the pivots of a supernode and adds to the rows of
// x, n x m, below them; work is working memory.
//
// A piece adds to a vector of its own: its additions to rows above it are added to x when all pieces are done.
func (s *Analysis) forward(m int, x, work []float64, one func(i int, x, work []float64)) {
	if s.pieces == nil {
		for i := range s.front {
			one(i, x, work)
		}
		return
	}
	sums := make([][]float64, len(s.pieces))
	s.eachPiece(func() func(k int) {
		own, work := make([]float64, len(x)), make([]float64, len(work))
		return func(k int) {
			p := s.pieces[k]
			lo, hi := s.first[p.lo], s.first[p.hi]
			for c := 0; c < len(x); c += s.n {
				copy(own[c+int(lo):c+int(hi)], x[c+int(lo):])
			}
			for i := p.lo; i < p.hi; i++ {
				one(int(i), own, work)
			}
			for c := 0; c < len(x); c += s.n {
				copy(x[c+int(lo):c+int(hi)], own[c+int(lo):])
				s.eachRowAbove(p, func(r int32) {
					sums[k] = append(sums[k], own[c+int(r)])
					own[c+int(r)] = 0
				})
			}
		}
	})
	for k, p := range s.pieces {
		sum := sums[k]
		for c := 0; c < len(x); c += s.n {
			s.eachRowAbove(p, func(r int32) {
				x[c+int(r)] += sum[0]
				sum = sum[1:]
			})
		}
	}
	for _, i := range s.above {
		one(int(i), x, work)
	}
}

// eachRowAbove calls f for the rows below the pivots of the roots of a piece. A row may occur several times.
func (s *Analysis) eachRowAbove(p piece, f func(r int32)) {
	for i := p.lo; i < p.hi; i++ {
		if up := s.parent[i]; up >= p.hi {
			for _, r := range s.rows[s.rowPtr[i]:s.rowPtr[i+1]] {
				f(r)
			}
		}
	}
}

// backward calls one for each supernode, parents first. one computes the pivots of a supernode in x from the rows below
// them.
func (s *Analysis) backward(x, work []float64, one func(i int, x, work []float64)) {
	if s.pieces == nil {
		for i := len(s.front) - 1; i >= 0; i-- {
			one(i, x, work)
		}
		return
	}
	for k := len(s.above) - 1; k >= 0; k-- {
		one(int(s.above[k]), x, work)
	}
	s.eachPiece(func() func(k int) {
		work := make([]float64, len(work))
		return func(k int) {
			for i := s.pieces[k].hi - 1; i >= s.pieces[k].lo; i-- {
				one(int(i), x, work)
			}
		}
	})
}

// eachPiece calls a function for each piece, on several goroutines, of which each has its own function from begin. The
// largest pieces, the last ones, come first.
func (s *Analysis) eachPiece(begin func() func(k int)) {
	var next atomic.Int64
	par.Do(par.Workers(int64(len(s.pieces)), 1), func(int) {
		f := begin()
		for {
			k := len(s.pieces) - int(next.Add(1))
			if k < 0 {
				return
			}
			f(k)
		}
	})
}
