package gen

import (
	"context"

	"github.com/msrep-go/msrep/internal/par"
)

var lowhighInfo = Info{
	Name:    "lowhigh",
	Summary: "equal ranges of rows, the first of which hold fewer entries than the others (MSREP paper, Figure 6)",
	Example: "lowhigh:rows=1M,nnz=50M,parts=8,low=4,ratio=0.1",
	Params: []Param{
		{"rows", "8k", "rows"},
		colsParam,
		{"nnz", "80k", "exact number of entries"},
		{"parts", "8", "number of ranges, at most 65536; usually one per device"},
		{"low", "4", "number of ranges, from the first on, that hold few entries"},
		{"ratio", "0.1", "entries of a range with few entries, as a fraction of those of any other range, 0 to 1"},
		valueParam, seedParam,
	},
}

func lowhigh(p *params) *plan {
	rows := p.dim("rows", 1)
	cols := p.dimOr("cols", 0, rows)
	nnz := p.count("nnz", 0, rows*cols)
	parts := int(p.count("parts", 1, min(rows, 1<<16)))
	low := int(p.count("low", 0, int64(parts)))
	ratio := p.number("ratio", 0, 1)
	if ratio == 0 && low == parts && nnz > 0 {
		p.fail("low=%d of %d parts with ratio=0 leaves no row block for entries", low, parts)
	}
	pl := &plan{rows: rows, cols: cols, entries: nnz}
	pl.setValues(p)

	// entriesBefore returns the number of entries before block b.
	entriesBefore := func(b int) int64 {
		weight := func(b int) float64 { return ratio*float64(min(b, low)) + float64(max(b-low, 0)) }
		switch {
		case b == parts:
			return nnz
		case weight(b) == 0:
			return 0
		}
		return min(int64(float64(nnz)*(weight(b)/weight(parts))), nnz)
	}
	for b := range parts {
		held, height := entriesBefore(b+1)-entriesBefore(b), par.Cut(rows, parts, b+1)-par.Cut(rows, parts, b)
		if held > height*cols {
			p.fail("row block %d would get %d entries, but its %d rows of %d columns hold %d", b, held, height, cols, height*cols)
			break
		}
	}
	pl.lengths = func(ctx context.Context, n []int64) {
		par.Range(int64(parts), 1, func(lo, hi int64) {
			for b := int(lo); b < int(hi); b++ {
				block := n[par.Cut(rows, parts, b):par.Cut(rows, parts, b+1)]
				held := entriesBefore(b+1) - entriesBefore(b)
				for i := range block {
					if i&0xfff == 0 && ctx.Err() != nil {
						return
					}
					block[i] = par.Cut(held, len(block), i+1) - par.Cut(held, len(block), i)
				}
			}
		})
	}
	pl.row = randomColumns(p.seed().sub(columnStream), cols)
	return pl
}
