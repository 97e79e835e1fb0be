package tiles

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Name is the name of tiles.
const Name = "tiles"

// Kind returns what tiles say of themselves.
func Kind[V sparse.Value]() form.Kind[V] {
	return form.Kind[V]{
		Name: Name,
		Suit: suit[V],
		New: func(r form.Rows[V], o form.Options[V]) (form.Form[V], error) {
			return NewTiles(r, TileOptions[V]{Level: o.Level, Values: o.Values, Rows: o.Sizes["rows"], Cols: o.Sizes["columns"]})
		},
		Fixed: true,
		Test: form.Test[V]{
			Sizes: map[string][]int{"rows": {0, 1, 3, 16, 17, 100, 65536}, "columns": {0, 1, 8, 16, 64, 1024, 65536}},
			Small: form.Sizes{"rows": 50, "columns": 32},
			MayRefuse: func(r form.Rows[V], s form.Sizes) bool { // nearly all would be empty
				return s["columns"] > 0 && max(1, len(r.Ptr)-1)*r.Cols > 1<<16
			},
		},
	}
}

// suit suggests tiles for rows that often miss x, and late unless they mostly miss an x that is wide.
func suit[V sparse.Value](l *form.Look) []form.Candidate[V] {
	if l.Misses < form.OftenMissed {
		return nil
	}
	c := form.Candidate[V]{Bytes: float64(mem.Size[V]()) + 4, Large: true, Cached: form.Cached{Product: .75, Build: 16}, Why: l.Missed()}
	if l.Misses < form.MostlyMissed || !l.Wide {
		c.Turn = form.Late
	}
	return []form.Candidate[V]{c}
}
