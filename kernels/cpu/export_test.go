package cpu

import "testing"

// SetGiantEntries replaces the number of entries from which on a row is giant, until
// the test ends.
func SetGiantEntries(t *testing.T, n int64) {
	old := giantEntries
	t.Cleanup(func() { giantEntries = old })
	giantEntries = n
}
