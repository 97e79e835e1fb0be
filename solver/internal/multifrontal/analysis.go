package multifrontal

import (
	"context"
	"fmt"
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// Kind is the factorisation that an analysis is for.
type Kind int

const (
	// Cholesky is A = L L'.
	Cholesky Kind = iota
	// LU is A = L U with row exchanges within fronts.
	LU
)

// Analysis is what a factorisation needs to know of the pattern of a matrix. It does not change after Analyze.
type Analysis struct {
	tree
	kind Kind
	n    int
	nnz  int64   // of the matrix
	perm []int32 // perm[new] = old

	// rows[rowPtr[s]:rowPtr[s+1]] are the rows of supernode s below its pivots, ascending. place is the place of each in
	// the front of the parent.
	rowPtr      []int64
	rows, place []int32
	// children[childPtr[s]:childPtr[s+1]] are the supernodes with parent s, ascending.
	childPtr []int32
	children []int32

	// The entries of the matrix by supernode: element source[k] of the values goes to element target[k] of the part of
	// the factors that belongs to the supernode.
	entryPtr       []int64
	source, target []uint32

	start []int64 // of the part of each supernode in the factors
	front []front

	// pieces are parts of the tree that solves share among goroutines, above the supernodes above them. There are none if
	// the factors are small.
	pieces []piece
	above  []int32

	entries int64   // of the factors, without the zeros that joined supernodes add
	work    float64 // multiplications and additions, without those with these zeros
	stored  float64 // the same with them
	largest int     // rows of the largest front
	stack   int64   // largest number of elements of contributions in a run on one goroutine
}

// front has the dimensions of the front of a supernode.
type front struct {
	pivots, below int
	work          float64 // of the front; of its subtree once it has been analysed
}

func (f front) rows() int { return f.pivots + f.below }

// SizeError means that a matrix is too large for this package.
type SizeError struct{ msg string }

func (e *SizeError) Error() string { return e.msg }

// Analyze analyses the pattern of a in the order perm, perm[new] = old. It changes this order where that changes neither
// fill nor work, and to make joined supernodes consecutive.
//
// Columns that follow each other in perm and have the same element of together are in one supernode, so that rows may be
// exchanged among them, if they are neighbours in the pattern. nil stands for no such columns.
//
// fits is called with Bytes before large memory is used, and ends the analysis with its error. It may be nil.
//
// A matrix that is too large is a *SizeError.
func Analyze(ctx context.Context, a *sparse.CSR[float64], perm, together []int32, kind Kind, fits func(bytes int64) error) (*Analysis, error) {
	if a.NNZ() >= noEntry {
		return nil, &SizeError{fmt.Sprintf("%d entries: at most %d are supported", a.NNZ(), uint32(noEntry-1))}
	}
	g := symmetricGraph(a)
	s := &Analysis{kind: kind, n: a.Rows, nnz: a.NNZ()}
	inverse := invert(perm)
	parent := eliminationTree(g, perm, inverse)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	post := postorder(parent)
	perm, parent = reorder(perm, parent, post)
	inverse = invert(perm)
	count := columnCounts(g, perm, inverse, parent)
	for _, c := range count {
		s.entries += int64(c)
		s.work += float64(c) * float64(c)
	}
	if kind == LU {
		s.entries = 2*s.entries - int64(s.n)
		s.work *= 2
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var order []int32
	s.tree, order = supernodes(parent, count, func(j int32) bool {
		return together != nil && together[perm[j]] == together[perm[j-1]]
	})
	s.perm = make([]int32, s.n)
	for i, k := range order {
		s.perm[i] = perm[k]
	}
	if err := s.layOut(); err != nil {
		return nil, err
	}
	s.stack = s.stackOf(0, int32(len(s.parent)))
	if fits != nil {
		if err := fits(s.Bytes()); err != nil {
			return nil, err
		}
	}
	inverse = invert(s.perm)
	s.findRows(g, inverse)
	s.findPlaces()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.assignEntries(g, inverse)
	s.cutSolve()
	return s, nil
}

// reorder returns a permutation and a forest after node post[new] has become node new.
func reorder(perm, parent, post []int32) (p, up []int32) {
	number := invert(post)
	p, up = make([]int32, len(perm)), make([]int32, len(perm))
	for i, k := range post {
		p[i] = perm[k]
		if up[i] = parent[k]; up[i] != none {
			up[i] = number[up[i]]
		}
	}
	return p, up
}

// maxBelow is the largest number of rows below the pivots of a front. Its contribution takes 8 TiB then.
const maxBelow = 1 << 20

// layOut computes the places of rows and factors, the children and the work.
func (s *Analysis) layOut() error {
	count := len(s.parent)
	s.rowPtr, s.start, s.front = make([]int64, count+1), make([]int64, count+1), make([]front, count)
	s.childPtr = make([]int32, count+2)
	for i := range count {
		f := front{pivots: int(s.first[i+1] - s.first[i]), below: int(s.below[i])}
		k, m := float64(f.pivots), float64(f.below)
		size := int64(f.pivots) * int64(f.rows())
		f.work = k*k*k/3 + k*k*m + k*m*m
		if s.kind == LU {
			size += int64(f.pivots) * int64(f.below)
			f.work *= 2
		}
		if size > math.MaxUint32 || f.below > maxBelow {
			return &SizeError{fmt.Sprintf("its factors have a dense block of %d rows and %d columns: at most %d elements and %d rows below its diagonal are supported", f.rows(), f.pivots, uint32(math.MaxUint32), maxBelow)}
		}
		s.front[i] = f
		s.stored += f.work
		s.rowPtr[i+1] = s.rowPtr[i] + int64(f.below)
		s.start[i+1] = s.start[i] + size
		if up := s.parent[i]; up != none {
			s.childPtr[up+2]++
		}
	}
	for i := range count {
		s.childPtr[i+2] += s.childPtr[i+1]
	}
	s.children = make([]int32, s.childPtr[count+1])
	for i, up := range s.parent {
		if up != none {
			s.children[s.childPtr[up+1]] = int32(i)
			s.childPtr[up+1]++
			s.front[up].work += s.front[i].work
		}
	}
	s.childPtr = s.childPtr[:count+1]
	return nil
}

func (s *Analysis) childrenOf(i int32) []int32 { return s.children[s.childPtr[i]:s.childPtr[i+1]] }

// findRows finds the rows of each supernode. Row i is a row of the supernodes on the paths from its neighbours before it
// to its own supernode.
func (s *Analysis) findRows(g *graph, inverse []int32) {
	count := len(s.parent)
	of := make([]int32, s.n) // supernode of each column
	for t := range count {
		for j := s.first[t]; j < s.first[t+1]; j++ {
			of[j] = int32(t)
		}
	}
	s.rows = make([]int32, s.rowPtr[count])
	next := append([]int64(nil), s.rowPtr[:count]...)
	last := filled(count, none) // last row that a supernode was given
	for i := range int32(s.n) {
		own := of[i]
		for _, old := range g.neighbours(s.perm[i]) {
			k := inverse[old]
			if k >= i {
				continue
			}
			for t := of[k]; t != own && last[t] != i; t = s.parent[t] {
				last[t] = i
				s.rows[next[t]] = i
				next[t]++
			}
		}
	}
}

// findPlaces finds the places of rows in the fronts of parents. The lists of both ascend.
func (s *Analysis) findPlaces() {
	s.place = make([]int32, len(s.rows))
	for i, up := range s.parent {
		if up == none {
			continue
		}
		first, end, pivots := s.first[up], s.first[up+1], s.first[up+1]-s.first[up]
		above, at := s.rows[s.rowPtr[up]:s.rowPtr[up+1]], int32(0)
		for k := s.rowPtr[i]; k < s.rowPtr[i+1]; k++ {
			r := s.rows[k]
			if r < end {
				s.place[k] = r - first
				continue
			}
			for above[at] != r {
				at++
			}
			s.place[k] = pivots + at
		}
	}
}

// assignEntries finds the places of the entries of the matrix in the factors. The part of a supernode with p pivots and m
// rows below has the m+p rows of L by columns, then for LU the p rows of the other columns of U by columns. For Cholesky
// it takes the entries of the lower triangle in the new order.
func (s *Analysis) assignEntries(g *graph, inverse []int32) {
	count := len(s.parent)
	s.entryPtr = make([]int64, count+1)
	s.source, s.target = make([]uint32, s.nnz), make([]uint32, s.nnz)
	to := int64(0)
	put := func(entry, target uint32) {
		if entry != noEntry {
			s.source[to], s.target[to] = entry, target
			to++
		}
	}
	local := make([]uint32, s.n)
	for i, f := range s.front {
		first := s.first[i]
		for j := range f.pivots {
			local[int(first)+j] = uint32(j)
		}
		for j, r := range s.rows[s.rowPtr[i]:s.rowPtr[i+1]] {
			local[r] = uint32(f.pivots + j)
		}
		rows, pivots := uint32(f.rows()), uint32(f.pivots)
		for p := range pivots {
			j := first + int32(p)
			old := s.perm[j]
			for k := g.ptr[old]; k < g.ptr[old+1]; k++ {
				c := inverse[g.adj[k]]
				if c < j {
					continue
				}
				q := local[c]
				put(g.mirror[k], p*rows+q) // in column j
				if s.kind == Cholesky || c == j {
					continue
				}
				own := uint32(k)
				if g.own != nil {
					own = g.own[k]
				}
				if q < pivots {
					put(own, q*rows+p)
				} else {
					put(own, rows*pivots+(q-pivots)*pivots+p)
				}
			}
		}
		s.entryPtr[i+1] = to
	}
	s.source, s.target = s.source[:to:to], s.target[:to:to]
}

// stackOf returns the largest number of elements that the contributions of the supernodes lo to hi-1 take, except those of
// roots. The supernodes are whole subtrees.
func (s *Analysis) stackOf(lo, hi int32) int64 {
	most, now := int64(0), int64(0)
	for i := lo; i < hi; i++ {
		if up := s.parent[i]; up != none && up < hi {
			below := int64(s.front[i].below)
			now += below * below
			most = max(most, now)
		}
		for _, c := range s.childrenOf(i) {
			below := int64(s.front[c].below)
			now -= below * below
		}
	}
	return most
}

// Size returns the number of rows.
func (s *Analysis) Size() int { return s.n }

// Order returns the order of the pivots: perm[new] = old.
func (s *Analysis) Order() []int32 { return s.perm }

// Entries returns the number of entries of the factors. The diagonal of L and U counts once.
func (s *Analysis) Entries() int64 { return s.entries }

// Stored returns the number of elements of the stored factors, with the zeros in supernodes.
func (s *Analysis) Stored() int64 { return s.start[len(s.parent)] }

// Work returns the number of multiplications and additions of a factorisation, without those with zeros that joined
// supernodes add.
func (s *Analysis) Work() float64 { return s.work }

// Bytes returns the memory that the analysis and a factorisation take: the factors, their pattern, and the contributions,
// of which a run on several goroutines has about twice as many as one on one goroutine.
func (s *Analysis) Bytes() int64 {
	return 8 * (s.Stored() + 2*s.stack + s.rowPtr[len(s.parent)] + s.nnz)
}
