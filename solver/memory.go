package solver

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// fit returns an error where the vectors of a solve with a matrix of this many rows and columns do not fit in host
// memory. With a basis it counts the two triangular matrices of the longest cycle as well.
func (m method) fit(opt Options, rows, n int) error {
	count := m.vectors
	if opt.Precond != nil {
		count += m.precondVectors
	}
	var triangles int64
	if m.bases > 0 {
		if opt.Basis == BasisInt32 {
			count += 1 + m.bases
		}
		steps := min(opt.Restart, opt.MaxIter)
		count += m.bases * steps
		triangles = int64(steps) * int64(steps+3) // column j has j+2 elements
	}
	need := 8 * (int64(count)*int64(n) + int64(m.rowVectors)*int64(rows) + triangles)
	have, ok := mem.Fits(need)
	switch {
	case ok:
		return nil
	case m.bases > 0:
		return sparse.Inputf("restart", "%d: the %d vectors of %d elements and the triangles that %s keeps take %d bytes, %d are available", opt.Restart, count, n, m.name, need, have)
	}
	if m.transposed {
		return sparse.Inputf("x", "%d elements: the %d vectors like it and %d like b that %s keeps take %d bytes, %d are available", n, count, m.rowVectors, m.name, need, have)
	}
	return sparse.Inputf("x", "%d elements: the %d vectors that %s keeps take %d bytes, %d are available", n, count, m.name, need, have)
}

// manyFit is fit for CGMany.
func manyFit(systems, n int) error {
	const each, working = 4, 3 // vectors of each system; vectors for work on one system at a time
	need := 8 * int64(each*systems+working) * int64(n)
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("x", "%d vectors of %d elements: the %d vectors for each that cg keeps take %d bytes, %d are available", systems, n, each, need, have)
	}
	return nil
}

// vectorsFit returns an error where need bytes do not fit in memory. The error names the argument, n and what.
func vectorsFit(name, what string, need int64, n int) error {
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf(name, "%d elements: %s %d bytes, %d are available", n, what, need, have)
	}
	return nil
}
