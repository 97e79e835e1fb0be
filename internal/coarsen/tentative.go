package coarsen

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
)

// dependent is a limit of the relative length of what is left of a near null vector in an aggregate after it was made
// orthogonal to the earlier ones: below it, the vector counts as a linear combination of them.
const dependent = 1e-8

// tentative makes the near null space B orthonormal in each aggregate: B = Q R there, with Q in t and R in coarseNear. A
// vector that depends on the earlier ones adds no column to Q.
func (s *setup) tentative() {
	s.first = make([]int32, s.aggregates+1)
	if s.nodes.single() && len(s.near) == 1 {
		s.normalise(s.near[0])
		return
	}
	k, count := len(s.near), int(s.aggregates)
	s.t = mem.Make[float64](s.a.Rows * k)
	ptr, members := s.members()
	factors := make([]float64, count*k*k) // R of each aggregate, rows of length k
	s.run.ranges(count, 1<<8, func(lo, hi int) {
		var q []float64
		for g := lo; g < hi; g++ {
			var rank int
			q, rank = s.orthonormal(members[ptr[g]:ptr[g+1]], q, factors[g*k*k:(g+1)*k*k])
			s.first[g+1] = int32(rank)
		}
	})
	for g := range count {
		s.first[g+1] += s.first[g]
	}
	s.coarseNear = make([][]float64, k)
	for c := range s.coarseNear {
		s.coarseNear[c] = make([]float64, s.first[count])
	}
	s.run.ranges(count, 1<<8, func(lo, hi int) {
		for g := lo; g < hi; g++ {
			first := int(s.first[g])
			for r := range int(s.first[g+1]) - first {
				for c := range k {
					s.coarseNear[c][first+r] = factors[g*k*k+r*k+c]
				}
			}
		}
	})
}

// normalise is tentative for one vector and nodes of one unknown. nil stands for a vector of ones.
func (s *setup) normalise(b []float64) {
	norm := make([]float64, s.aggregates)
	for i, g := range s.of {
		switch {
		case g < 0:
		case b == nil:
			norm[g]++
		default:
			norm[g] += b[i] * b[i]
		}
	}
	near := make([]float64, 0, s.aggregates)
	for g, sum := range norm {
		norm[g] = math.Sqrt(sum)
		if norm[g] > 0 {
			near = append(near, norm[g])
		}
		s.first[g+1] = int32(len(near))
	}
	s.coarseNear = [][]float64{near}
	if b == nil {
		for g := range norm {
			norm[g] = 1 / norm[g]
		}
		s.same = norm
		return
	}
	s.t = mem.Make[float64](len(b))
	s.run.ranges(len(b), 1<<13, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if g := s.of[i]; g >= 0 && norm[g] > 0 {
				s.t[i] = b[i] / norm[g]
			}
		}
	})
}

// tentativeValue returns the value of unknown i, a node of its own, in the column of its aggregate g.
func (s *setup) tentativeValue(i int, g int32) float64 {
	if s.same != nil {
		return s.same[g]
	}
	return s.t[i]
}

// members returns the nodes of each aggregate: those of g are members[ptr[g]:ptr[g+1]], ascending.
func (s *setup) members() (ptr []int64, members []int32) {
	ptr = make([]int64, s.aggregates+1)
	for _, g := range s.of {
		if g >= 0 {
			ptr[g+1]++
		}
	}
	prefix(ptr)
	members = make([]int32, ptr[s.aggregates])
	next := append([]int64(nil), ptr[:s.aggregates]...)
	for i, g := range s.of {
		if g >= 0 {
			members[next[g]] = int32(i)
			next[g]++
		}
	}
	return ptr, members
}

// orthonormal computes Q and R of the near null space in an aggregate by the modified Gram-Schmidt method with
// reorthogonalisation, and returns the number of columns of Q. r is zero before; its rows have length k. q is work memory,
// returned for the next call.
func (s *setup) orthonormal(members []int32, q, r []float64) (work []float64, rank int) {
	k, size := len(s.near), 0
	for _, node := range members {
		lo, hi := s.nodes.span(int(node))
		size += hi - lo
	}
	if len(q) < size*k {
		q = make([]float64, size*k)
	}
	column := func(c int) []float64 { return q[c*size : (c+1)*size] }
	for c, b := range s.near {
		x := column(rank)[:0]
		for _, node := range members {
			lo, hi := s.nodes.span(int(node))
			x = append(x, b[lo:hi]...)
		}
		length := math.Sqrt(dot(x, x))
		for range 2 {
			for p := range rank {
				product := dot(column(p), x)
				addTo(x, -product, column(p))
				r[p*k+c] += product
			}
		}
		left := math.Sqrt(dot(x, x))
		if !(left > dependent*length) {
			continue
		}
		for i := range x {
			x[i] /= left
		}
		r[rank*k+c] = left
		rank++
	}
	at := 0
	for _, node := range members {
		lo, hi := s.nodes.span(int(node))
		for i := lo; i < hi; i++ {
			for c := range rank {
				s.t[i*k+c] = q[c*size+at]
			}
			at++
		}
	}
	return q, rank
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// coarseNodes returns the nodes of the coarse level; nil if each coarse unknown is one.
func (s *setup) coarseNodes() []int32 {
	if len(s.near) == 1 {
		return nil
	}
	return s.first
}
