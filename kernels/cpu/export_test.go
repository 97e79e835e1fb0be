package cpu

import (
	"testing"
	"time"

	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/kernels/cpu/internal/scatter"
	"github.com/msrep-go/msrep/kernels/cpu/internal/search"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// SetLongRowEntries replaces the number of entries from which a row is long, until the test ends.
func SetLongRowEntries(t *testing.T, n int64) {
	old := rows.LongRowEntries
	t.Cleanup(func() { rows.LongRowEntries = old })
	rows.LongRowEntries = n
}

// SetBudget replaces the time of a search without a stated number of products, until the test ends.
func SetBudget(t *testing.T, d time.Duration) {
	old := search.DefaultBudget
	t.Cleanup(func() { search.DefaultBudget = old })
	search.DefaultBudget = d
}

// OwnStretches returns where the workers of transposed products add to y, one for each part.
func OwnStretches(parts []partition.Part, a *sparse.CSR[float64]) []int {
	return scatter.Stretches(parts, a.ColIdx, 0, a.Cols)
}
