package factor

import (
	"cmp"
	"context"

	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/solver/internal/incomplete"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// These are the defaults of ILUTOptions.
const (
	DefaultDrop  = 1e-4
	DefaultFill  = 10
	DefaultPivot = 0.1
)

// ILUTOptions are the options of NewILUT. The zero value suits most systems.
type ILUTOptions struct {
	// Drop is the magnitude below which entries are dropped, at most 1; 0 means DefaultDrop. Before its pivots divide
	// it, an entry of L is compared with the largest entry of its row of the scaled matrix, an entry of U with the
	// pivot of its row. With math.SmallestNonzeroFloat64 only zeros are dropped. Where the rows so far have more than
	// a quarter of the entries that Fill allows, larger entries are dropped as well: up to 178 Drop where they have all.
	Drop float64
	// Fill bounds the number of entries of L and U, as a multiple of the entries of A; 0 means DefaultFill, and
	// math.Inf(1) is no bound. The first rows may have Fill times as many as these rows of A; after that, any row may
	// have Fill times as many as its own row of A.
	Fill float64
	// Pivot is the least pivot relative to the largest entry of its row of U, at most 1; 0 means DefaultPivot.
	// Columns are exchanged for smaller pivots.
	Pivot float64
	// Order is the order in which rows are eliminated; nil means order.AMD.
	Order Order
	// Unmatched leaves rows where they are, as in ILU0Options.
	Unmatched bool
}

// NewILUT returns incomplete factors of a square matrix without their small entries, with exchanges of columns: ILUTP
// (Saad, ILUT: a dual threshold incomplete LU factorization, Numer. Linear Algebra Appl. 1 (1994) 387-402). Rows are
// matched with columns, scaled and ordered first. Like the incomplete factors of SuperLU (Li and Shao, A supernodal
// approach to incomplete LU factorization with partial pivoting, ACM Trans. Math. Softw. 37 (2011) 43), it compares
// entries with pivots, and bounds the fill of the whole matrix rather than of each row.
//
// With Drop = math.SmallestNonzeroFloat64 and Fill = math.Inf(1) the factors are complete.
//
// Options out of range and factors that do not fit in memory are a *sparse.InputError; other errors, and what is said
// of pivots and duplicates, are those of NewILU0.
func NewILUT(ctx context.Context, a *sparse.CSR[float64], opt ILUTOptions) (f *Incomplete, err error) {
	defer rescue.To(&err)
	by := incomplete.Threshold{
		Drop:  cmp.Or(opt.Drop, DefaultDrop),
		Fill:  cmp.Or(opt.Fill, DefaultFill),
		Pivot: cmp.Or(opt.Pivot, DefaultPivot),
	}
	switch {
	case !(by.Drop >= 0 && by.Drop <= 1):
		return nil, sparse.Inputf("drop", "%g: use a number from 0 to 1", by.Drop)
	case !(by.Fill >= 0):
		return nil, sparse.Inputf("fill", "%g: use a positive number", by.Fill)
	case !(by.Pivot >= 0 && by.Pivot <= 1):
		return nil, sparse.Inputf("pivot", "%g: use a number from 0 to 1", by.Pivot)
	}
	if opt.Order == nil {
		opt.Order = order.AMD[float64]
	}
	f = &Incomplete{kind: "ilut", matching: !opt.Unmatched}
	f.factorise = func(ctx context.Context, a *sparse.CSR[float64]) (*incomplete.Factors, error) {
		return incomplete.ILUT(ctx, a, by)
	}
	return f.start(ctx, a, opt.Order)
}
