package spgemm

import (
	"github.com/msrep-go/msrep/sparse"
)

// Transpose returns A' in CSR. The entries of each row of A' are in the order of A's rows.
func Transpose[V sparse.Value](a *sparse.CSR[V], run Run) *sparse.CSR[V] {
	c := sparse.ToCSC[V](a)
	return c.Transpose()
}
