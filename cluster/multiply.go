package cluster

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/sparse"
)

// Multiply returns C = A B over ranks. C has the RowCut of A and the ColCut of B. Each rank fetches the rows of B that the
// columns of its rows of A name. Elements of C are sums in the order of A's rows (msrep.SpGEMM), so C has the same bits
// for any number of ranks. A and B stay as they are. All ranks call Multiply and get the same error.
func Multiply[V sparse.Value](sys *System, a, b *Matrix[V]) (*Matrix[V], error) {
	if err := together(sys, a, b); err != nil {
		return nil, err
	}
	if a.Cols != b.Rows {
		return nil, &agreed{sparse.Inputf("matrix", "A is %d x %d, B is %d x %d: B must have a row for each column of A", a.Rows, a.Cols, b.Rows, b.Cols)}
	}
	left, halo, before := named(a.Part, b.First(), b.First()+b.Part.Rows)
	right, err := b.withRows(sys.comm, halo, before)
	if err := sys.Agree(err); err != nil {
		return nil, err
	}
	part, err := spgemm.Multiply(left, right, nil)
	return product(sys, a, b, part, err)
}

// Add returns alpha*A + beta*B over ranks, for matrices with the same shape and RowCut; see sparse.Add. A and B stay as they
// are. All ranks call Add and get the same error.
func Add[V sparse.Value](sys *System, alpha V, a *Matrix[V], beta V, b *Matrix[V]) (*Matrix[V], error) {
	if err := together(sys, a, b); err != nil {
		return nil, err
	}
	switch {
	case a.Rows != b.Rows || a.Cols != b.Cols:
		return nil, &agreed{sparse.Inputf("matrix", "A is %d x %d, B is %d x %d: a sum needs equal shapes", a.Rows, a.Cols, b.Rows, b.Cols)}
	case !slices.Equal(a.RowCut, b.RowCut):
		return nil, &agreed{sparse.Inputf("matrix", "A and B have different cuts between ranks: a sum needs equal ones")}
	}
	part, err := sparse.Add(alpha, a.Part, beta, b.Part)
	return product(sys, a, b, part, err)
}

// triple returns R A P over ranks, with the cuts of the rows of R, and the same bits for any number of ranks. Each rank
// fetches the rows of A and then those of P that it needs.
func triple[V sparse.Value](sys *System, r, a, p *Matrix[V]) (*Matrix[V], error) {
	left, halo, before := named(r.Part, a.First(), a.First()+a.Part.Rows)
	rows, err := a.withRows(sys.comm, halo, before)
	if err := sys.Agree(err); err != nil {
		return nil, err
	}
	middle, halo, before := named(rows, p.First(), p.First()+p.Part.Rows)
	right, err := p.withRows(sys.comm, halo, before)
	if err := sys.Agree(err); err != nil {
		return nil, err
	}
	part, err := spgemm.Triple(left, middle, right, nil)
	return product(sys, r, p, part, err)
}

// together checks on all ranks that a and b are matrices of this System, and the same ones on all ranks.
func together[V sparse.Value](sys *System, a, b *Matrix[V]) error {
	if sys.none() {
		return errNoSystem
	}
	err := a.valid(sys.comm)
	if err == nil {
		err = b.valid(sys.comm)
	}
	if err := sys.Agree(err); err != nil {
		return err
	}
	return sys.Same("matrix", shapeOf(a)+", "+shapeOf(b))
}

// valid checks the rows of this rank.
func (m *Matrix[V]) valid(c Comm) error {
	switch {
	case m == nil || m.Part == nil:
		return errNoPart
	case m.rank != c.Rank() || len(m.RowCut) != c.Size()+1 || len(m.ColCut) != c.Size()+1:
		return sparse.Inputf("matrix", "was made for rank %d of %d, and this is rank %d of %d", m.rank, len(m.RowCut)-1, c.Rank(), c.Size())
	case m.Part.Rows != m.RowCut[m.rank+1]-m.RowCut[m.rank] || m.Part.Cols != m.Cols:
		return sparse.Inputf("matrix", "its part is %d x %d: this rank has %d rows of %d columns", m.Part.Rows, m.Part.Cols, m.RowCut[m.rank+1]-m.RowCut[m.rank], m.Cols)
	}
	return m.Part.Validate()
}

// shapeOf describes what all ranks must have in common.
func shapeOf[V sparse.Value](m *Matrix[V]) string {
	return fmt.Sprintf("%d x %d, cut by %08x", m.Rows, m.Cols, checksum(m.RowCut, m.ColCut))
}

// product makes a matrix of this rank's rows of a product of which a is the first factor and b the last, or returns on all
// ranks the error of one.
func product[V sparse.Value](sys *System, a, b *Matrix[V], part *sparse.CSR[V], err error) (*Matrix[V], error) {
	if err := sys.Agree(err); err != nil {
		return nil, err
	}
	m := &Matrix[V]{Rows: a.Rows, Cols: b.Cols, RowCut: a.RowCut, ColCut: b.ColCut, Part: part, rank: a.rank}
	if m.Rows == m.Cols {
		m.ColCut = m.RowCut
	}
	m.NNZ, err = sumInt(sys.comm, part.NNZ())
	return m, err
}
