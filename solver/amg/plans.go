package amg

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// plans has the products of a level. On a level that is solved, a is the plan of the inverse; p and r are nil on the coarsest
// level.
type plans[V sparse.Value] struct {
	a, p, r *msrep.Plan[V]
	arrays  int64 // bytes of the matrices, which plans may use in place
}

const (
	// expectedCycles is the number of cycles for which plans look for forms.
	expectedCycles = 40
	// productsOfCycle is the number of products with A in a cycle, as a multiple of the degree of the smoother. It is half as
	// much again as there are, so that a form which is several times as fast is also taken where building it is slow.
	productsOfCycle = 3
	// searched is the number of entries from which plans look for a form at all.
	searched = 1 << 16
)

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
		if a.NNZ() < searched {
			products = 1
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
	p.a = plan(l.a, productsOfCycle*opt.Degree*expectedCycles)
	p.p, p.r = plan(l.p, 1), plan(l.r, 1) // one product a cycle repays no search
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
