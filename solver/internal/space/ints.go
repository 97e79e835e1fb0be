package space

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/vec"
)

// Compact stores vectors of a Host in half of their memory: as 32-bit integers, with a power of two as common factor of each
// chunk (block floating point). The rounding error of a vector v is at most 2^-24*|v|, and about 2^-30*|v| if the elements of
// each chunk have similar magnitudes. Operations convert the elements to float64 and compute in float64.
type Compact struct {
	host *Host
	n    int
	q    [][]int32   // elements of each vector
	step [][]float64 // of each vector, for each chunk: element i is q[i]*step[i/SumChunk]
}

// NewCompact returns an empty store of vectors with s.N elements.
func (s *Host) NewCompact() *Compact { return &Compact{host: s, n: s.N} }

// Len returns the number of vectors.
func (c *Compact) Len() int { return len(c.q) }

// Append adds a vector to the store. It uses the first half of the memory of v: Store overwrites v, and writing v overwrites
// the stored vector.
func (c *Compact) Append(v Vector) {
	var q []int32
	if c.n > 0 {
		q, _ = mem.Slice[int32](mem.Bytes(c.host.V[v]), int64(c.n))
	}
	c.q, c.step = append(c.q, q), append(c.step, make([]float64, chunks(c.n)))
}

// Store rounds v in place and stores it as vector j. It returns v'v of the rounded v.
func (c *Compact) Store(j int, v Vector) float64 { return c.combine(nil, 1, v, j) }

// Project returns g[i] = v_i'u and h[i] = v_i'w for the first m vectors v_i of the store.
func (c *Compact) Project(m int, uv, wv Vector) (g, h []float64) {
	u, w, q := c.host.V[uv], c.host.V[wv], c.q[:m]
	all := make([]float64, 2*m)
	part := make([]float64, chunks(c.n)*len(all))
	c.host.pieces(c.n, func(from, to int) {
		sums := make([]vec.Sum, len(all))
		for k := from; k < to; k++ {
			lo, hi := k*SumChunk, min((k+1)*SumChunk, c.n)
			clear(sums)
			vec.ProjectInts(q, lo, u[lo:hi], w[lo:hi], sums[:m], sums[m:])
			for j := range sums {
				part[k*len(all)+j] = sums[j].Total() * c.step[j%m][k]
			}
		}
	})
	c.host.total(part, all)
	return all[:m], all[m:]
}

// SubtractAndStore computes w = w - sum of h[i]*v_i, rounds w in place and stores it as vector len(h). It returns w'w of the
// rounded w.
func (c *Compact) SubtractAndStore(h []float64, w Vector) float64 {
	return c.combine(h, -1, w, len(h))
}

// Add computes w = w + sum of h[i]*v_i.
func (c *Compact) Add(h []float64, w Vector) { c.combine(h, 1, w, -1) }

// Combine computes w = sum of h[i]*v_i.
func (c *Compact) Combine(h []float64, w Vector) {
	s := c.host
	s.Each(c.n, func(lo, hi int) { clear(s.V[w][lo:hi]) })
	c.Add(h, w)
}

// combine computes w = w + a * sum of h[i]*v_i for a of 1 or -1. Unless to is negative, it then rounds w, stores it as
// vector to and returns w'w.
func (c *Compact) combine(h []float64, a float64, wv Vector, to int) float64 {
	w, q := c.host.V[wv], c.q[:len(h)]
	partial := make([]float64, chunks(len(w)))
	c.host.pieces(len(w), func(from, end int) {
		scaled := make([]float64, len(h))
		for k := from; k < end; k++ {
			lo, hi := k*SumChunk, min((k+1)*SumChunk, len(w))
			for i, b := range h {
				scaled[i] = a * b * c.step[i][k]
			}
			vec.CombineInts(scaled, q, lo, w[lo:hi])
			if to >= 0 {
				c.step[to][k] = vec.RoundToInts(w[lo:hi], c.q[to][lo:hi])
				partial[k] = vec.Dot(w[lo:hi], w[lo:hi])
			}
		}
	})
	if to < 0 {
		return 0
	}
	var sum [1]float64
	c.host.total(partial, sum[:])
	return sum[0]
}
