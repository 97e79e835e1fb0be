package cpu

import (
	"testing"
	"time"
)

// SetGiantEntries replaces the number of entries from which on a row is giant, until
// the test ends.
func SetGiantEntries(t *testing.T, n int64) {
	old := giantEntries
	t.Cleanup(func() { giantEntries = old })
	giantEntries = n
}

// SetBudget replaces the time that a search may take where nobody says for how many
// products, until the test ends.
func SetBudget(t *testing.T, d time.Duration) {
	old := defaultBudget
	t.Cleanup(func() { defaultBudget = old })
	defaultBudget = d
}
