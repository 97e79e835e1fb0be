package amg

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// plans has the products of a level. On a level that is solved, a is the plan of the inverse; p and r are nil on the coarsest
// level.
type plans[V sparse.Value] struct {
	a, p, r *msrep.Plan[V]
	arrays  int64 // bytes of the matrices, which plans may use in place
}

// newPlans returns the plans of l.
func newPlans[V sparse.Value](ctx context.Context, sys *msrep.System, l *level, opt Options) (p plans[V], err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	plan := func(a *sparse.CSR[float64], products int) *msrep.Plan[V] {
		if a == nil || err != nil {
			return nil
		}
		m := values[V](a)
		p.arrays += m.Bytes()
		var q *msrep.Plan[V]
		q, err = msrep.NewPlan(ctx, sys, sparse.Matrix[V](m), msrep.PlanOptions{
			SkipValidation: true, Deterministic: opt.Deterministic, Expected: msrep.Expected{Products: products},
		})
		return q
	}
	if l.solve != nil {
		p.a = plan(l.solve, 1)
		return p, err
	}
	p.a = plan(l.a, multigrid.Products(l.a.NNZ(), opt.Degree))
	p.p, p.r = plan(l.p, 1), plan(l.r, 1)
	return p, err
}

func (p *plans[V]) bytes() int64 {
	n := p.arrays
	for _, q := range []*msrep.Plan[V]{p.a, p.p, p.r} {
		if q != nil {
			n += q.Bytes()
		}
	}
	return n
}

func (p *plans[V]) close() error { return errors.Join(p.a.Close(), p.p.Close(), p.r.Close()) }

// values returns a with values of type V: a itself where they are float64.
func values[V sparse.Value](a *sparse.CSR[float64]) *sparse.CSR[V] {
	if same, ok := any(a).(*sparse.CSR[V]); ok {
		return same
	}
	return &sparse.CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: a.ColIdx, Val: converted[V](a.Val)}
}
