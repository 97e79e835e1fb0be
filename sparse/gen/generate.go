package gen

import (
	"context"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Generate generates the matrix of a spec, NAME:key=value,..., if it fits into the
// available memory (16 GiB if that is not known). See GenerateContext.
func Generate(spec string) (*sparse.CSR[float64], sparse.Source, error) {
	return GenerateContext(context.Background(), spec, 0)
}

// GenerateContext is Generate, but it stops with the error of ctx when ctx ends. Before
// it allocates memory, it refuses a matrix that needs more than maxBytes bytes during
// generation; 0 means the available memory.
//
// Columns are sorted and distinct in every row. The source is Symmetric if the matrix is,
// and then counts the entries on and below the diagonal as stored. Its field is Pattern if
// every value is 1. Errors are *sparse.InputError, whose Subject is "gen:" and the spec,
// without colons at the end.
func GenerateContext(ctx context.Context, spec string, maxBytes int64) (*sparse.CSR[float64], sparse.Source, error) {
	if err := given.Context(ctx); err != nil {
		return nil, sparse.Source{}, err
	}
	m, src, err := generate(ctx, spec, maxBytes)
	if err != nil {
		return nil, sparse.Source{}, err
	}
	return m, src, nil
}

// Check returns the error that Generate would return for a spec, without generating the
// matrix.
func Check(spec string) error {
	_, err := planned(spec, 0)
	return err
}

// planned returns the plan of a matrix that fits into maxBytes.
func planned(spec string, maxBytes int64) (*plan, error) {
	g, p, err := parse(spec)
	if err != nil {
		return nil, err
	}
	pl := g.plan(p)
	if p.err != nil {
		return nil, p.err
	}
	if maxBytes == 0 {
		maxBytes = mem.Available()
	}
	if need := pl.bytes(); need > maxBytes {
		return nil, sparse.Inputf(p.arg, "needs %s for about %d entries in %d rows; the limit is %s", size(need), pl.entries, pl.rows, size(maxBytes))
	}
	return pl, nil
}

func generate(ctx context.Context, spec string, maxBytes int64) (*sparse.CSR[float64], sparse.Source, error) {
	var src sparse.Source
	pl, err := planned(spec, maxBytes)
	if err != nil {
		return nil, src, err
	}
	m, err := pl.build(ctx)
	if err != nil {
		return nil, src, err
	}
	src = sparse.Source{Field: pl.field, Symmetry: sparse.General, Stored: m.NNZ()}
	if pl.symmetric {
		src.Symmetry = sparse.Symmetric
		src.Stored = lowerHalf(m)
	}
	return m, src, nil
}
