package factor

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// clusters are columns that fronts eliminate together, with the rows of the same numbers: two or three whose block on the
// diagonal has large entries outside its diagonal. So rows need not move, and a symmetric pattern remains symmetric. Duff
// and Pralet, Strategies for scaling and pivoting for sparse symmetric indefinite problems, SIAM J. Matrix Anal. Appl. 27
// (2005) 313-340.
type clusters struct {
	of      []int32   // cluster of each column
	members [][]int32 // columns of each cluster, in an order in which neighbours are matched
}

// clustersOf cuts the cycles of a matching into clusters. It returns nil if all rows are matched with the columns of the
// same number.
func clustersOf(m *order.Matching) *clusters {
	if isIdentity(m.Rows) {
		return nil
	}
	c := &clusters{of: make([]int32, len(m.Rows))}
	for j := range c.of {
		c.of[j] = -1
	}
	for j := range m.Rows {
		if c.of[j] >= 0 {
			continue
		}
		var cycle []int32
		for k := int32(j); c.of[k] < 0; k = m.Rows[k] {
			c.of[k] = 0
			cycle = append(cycle, k)
		}
		for len(cycle) > 0 {
			n := 2
			if len(cycle) == 1 || len(cycle) == 3 {
				n = len(cycle)
			}
			for _, k := range cycle[:n] {
				c.of[k] = int32(len(c.members))
			}
			c.members, cycle = append(c.members, cycle[:n:n]), cycle[n:]
		}
	}
	return c
}

// symmetricScale returns scales for rows and for columns that keep a symmetric matrix symmetric.
func symmetricScale(m *order.Matching) []float64 {
	s := make([]float64, len(m.Rows))
	for i := range s {
		s[i] = nearPower(math.Sqrt(m.RowScale[i]) * math.Sqrt(m.ColScale[i]))
	}
	return s
}

// compress returns the pattern of a with one row and column for each cluster.
func (c *clusters) compress(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	n := len(c.members)
	b := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	seen := make([]int32, n) // one more than the last row that has a column
	for i, list := range c.members {
		for _, k := range list {
			for _, j := range a.ColIdx[a.RowPtr[k]:a.RowPtr[k+1]] {
				if to := c.of[j]; seen[to] != int32(i)+1 {
					seen[to] = int32(i) + 1
					b.ColIdx = append(b.ColIdx, to)
				}
			}
		}
		b.RowPtr[i+1] = int64(len(b.ColIdx))
	}
	b.Val = make([]float64, len(b.ColIdx))
	return b
}

// expand returns the order of columns that an order of clusters stands for.
func (c *clusters) expand(p []int32) []int32 {
	out := make([]int32, 0, len(c.of))
	for _, i := range p {
		out = append(out, c.members[i]...)
	}
	return out
}
