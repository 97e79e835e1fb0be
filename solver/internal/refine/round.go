package refine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/vec"
)

// mostRounded is the largest number of unknowns for which round works: it takes 8 n^2 bytes and 4/3 n^3 operations.
const mostRounded = 2000

// round rounds the solution high + low of A x = b to float64 numbers so that their rounding errors cancel in b - A x, and
// stores it in high.
//
// Let e be the vector of rounding errors. With A P = Q R for an order P of the columns, |A e| = |R P'e|: from the last element
// to the first, each is rounded so that its row of R P'e is as near to 0 as its unit in the last place allows. This is the
// nearest plane algorithm of Babai (On Lovász' lattice reduction and the nearest lattice point problem, Combinatorica 6
// (1986) 1-13). P puts the columns with the largest errors last, |a_j| |x_j|, so that their diagonal elements of R are the
// lengths of what the other columns cannot replace.
//
// Reducing the basis of the lattice first (Lenstra, Lenstra and Lovász) halved the residual of some systems again, but moved
// others along vectors near the null space until their exponents changed.
func (s *System) round(ctx context.Context, high, low []float64) error {
	n, a := len(high), s.A
	columns := make([][]float64, n)
	for j := range columns {
		columns[j] = make([]float64, n)
	}
	for i := range n {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			columns[a.ColIdx[k]][i] = a.Val[k]
		}
	}
	weight, order := make([]float64, n), make([]int, n)
	for j, c := range columns {
		order[j], weight[j] = j, math.Sqrt(vec.Dot(c, c))*math.Abs(high[j])
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(weight[i], weight[j]), i-j) })
	sorted := make([][]float64, n)
	for k, j := range order {
		sorted[k] = columns[j]
	}
	if err := triangularise(ctx, sorted); err != nil {
		return err
	}
	misfit := make([]float64, n) // R P'e of the elements that are rounded
	for k := n - 1; k >= 0; k-- {
		j, r := order[k], sorted[k]
		x, rest := high[j], low[j]
		if r[k] != 0 {
			rest -= misfit[k] / r[k]
		}
		high[j] = x + rest
		vec.Axpy((high[j]-x)-low[j], r[:k+1], misfit[:k+1])
	}
	return nil
}

// triangularise replaces the columns of a square matrix by those of the triangle R of its QR factors, by Householder's
// reflections. Elements below the diagonal are working memory afterwards.
func triangularise(ctx context.Context, columns [][]float64) error {
	for k, c := range columns {
		if err := ctx.Err(); err != nil {
			return err
		}
		v := c[k:]
		length := math.Sqrt(vec.Dot(v, v))
		if length == 0 {
			continue
		}
		if v[0] > 0 {
			length = -length
		}
		v[0] -= length
		scale := 1 / (length * v[0]) // -2/v'v
		rest := columns[k+1:]
		par.Range(int64(len(rest)), 1+1<<14/int64(len(v)), func(lo, hi int64) {
			for _, w := range rest[lo:hi] {
				vec.Axpy(scale*vec.Dot(v, w[k:]), v, w[k:])
			}
		})
		v[0] = length
	}
	return nil
}
