package factor

import (
	"cmp"
	"context"
	"errors"

	"github.com/msrep-go/msrep/solver/internal/multifrontal"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// dissectionWork is the work of a factorisation for each row from which order.Dissection may pay. It takes some 15 us for
// each row, and saves at most 0.3 to 0.7 of the work, at some 30 operations in a ns.
var dissectionWork = 2e6

// analyze analyses a matrix for a factorisation by fronts, in the order of the caller. For nil it takes order.AMD, and
// order.Dissection if that saves work where there is much. Clusters are columns to keep together, or nil. Factors that do
// not fit in most bytes or in memory are a *MemoryError.
//
// It asks ask before it tries the second order, and then again.
func analyze(ctx context.Context, a *sparse.CSR[float64], by Order, c *clusters, kind multifrontal.Kind, most int64, ask func(Info) error) (s *multifrontal.Analysis, err error) {
	defer func() {
		if err == nil {
			err = accept(ask, frontInfo(s))
		}
	}()
	fits := func(bytes int64) error { return factorsFit(bytes, most) }
	if by != nil {
		return analyzeOrder(ctx, a, by, c, kind, fits)
	}
	s, err = analyzeOrder(ctx, a, order.AMD[float64], c, kind, fits)
	var memory *MemoryError
	if err != nil && !errors.As(err, &memory) || err == nil && s.Work() < dissectionWork*float64(a.Rows) {
		return s, err
	}
	if err == nil {
		if err := accept(ask, frontInfo(s)); err != nil {
			return nil, err
		}
	}
	other, second := analyzeOrder(ctx, a, order.Dissection[float64], c, kind, fits)
	if second == nil && (err != nil || other.Work() < s.Work()) {
		s, err = other, nil
	}
	return s, cmp.Or(err, ctx.Err())
}

// analyzeOrder analyses a matrix in an order.
func analyzeOrder(ctx context.Context, a *sparse.CSR[float64], by Order, c *clusters, kind multifrontal.Kind, fits func(bytes int64) error) (*multifrontal.Analysis, error) {
	var p, together []int32
	var err error
	if c != nil {
		together = c.of
		if p, err = by(c.compress(a)); err == nil {
			p = c.expand(p)
		}
	} else if p, err = by(a); err == nil {
		p, err = permutation(p, a.Rows)
	}
	if err != nil {
		return nil, err
	}
	s, err := multifrontal.Analyze(ctx, a, p, together, kind, fits)
	return s, publicError(err)
}

// permutation checks an order and replaces nil by the identity.
func permutation(p []int32, n int) ([]int32, error) {
	if p == nil {
		p = make([]int32, n)
		for i := range p {
			p[i] = int32(i)
		}
		return p, nil
	}
	_, err := sparse.Inverse("order", p, n)
	return p, err
}
