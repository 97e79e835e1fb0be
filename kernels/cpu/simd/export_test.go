package simd

import "testing"

// InAllWays runs a test with rows that the processor foresees and that it does not, and with entries that
// are in caches near by and that are not.
func InAllWays(t *testing.T, f func(t *testing.T)) {
	foresees, near, many := foreseesRows, nearBytes, nearManyBytes
	defer func() { foreseesRows, nearBytes, nearManyBytes = foresees, near, many }()
	for _, way := range []struct {
		name     string
		foresees bool
		near     int64
	}{{"near", false, 1 << 40}, {"foreseen", true, 1 << 40}, {"far", false, 0}} {
		foreseesRows, nearBytes, nearManyBytes = way.foresees, way.near, way.near
		t.Run(way.name, f)
	}
}
