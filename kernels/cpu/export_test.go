package cpu

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// SetLongRowEntries replaces the number of entries from which a row is long, until the test ends.
func SetLongRowEntries(t *testing.T, n int64) {
	old := longRowEntries
	t.Cleanup(func() { longRowEntries = old })
	longRowEntries = n
}

// SetBudget replaces the time of a search without a stated number of products, until the test ends.
func SetBudget(t *testing.T, d time.Duration) {
	old := defaultBudget
	t.Cleanup(func() { defaultBudget = old })
	defaultBudget = d
}

// setNow replaces the time of day, and times everything by it, until the test ends. The times of f begin with the
// zero time; one goroutine at a time calls f. If f counts its calls the device should have one worker, as the calls
// of several workers come in any order.
func setNow(t *testing.T, f func() time.Time) {
	oldNow, oldThread := now, threadTime
	t.Cleanup(func() { now, threadTime = oldNow, oldThread })
	var mu sync.Mutex
	now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return epoch.Add(f().Sub(time.Time{}))
	}
	threadTime = nil
}

// AlwaysHalve makes the search try half of the entries however slow diagonals were, until the test ends.
func AlwaysHalve(t *testing.T) {
	old := worthHalving
	t.Cleanup(func() { worthHalving = old })
	worthHalving = math.Inf(1)
}

// IsSymmetric compares the halves of a matrix, with a worker for the rows between two borders.
func IsSymmetric(d *Device, op *kernels.Packing[float64], border []int) (bool, error) {
	p := &packed[float64]{dev: d, pieces: make([]piece[float64], len(border)-1)}
	return p.isSymmetric(op, border)
}

// OwnStretches returns where the workers of transposed products add to y, one for each part.
func OwnStretches(parts []partition.Part, a *sparse.CSR[float64]) []int {
	return ownStretches(parts, a.ColIdx, 0, a.Cols)
}
