package simd

import "testing"

// InAllWays runs a test with rows that the processor foresees and that it does not, and with entries and vectors
// that are in caches near by and that are not.
func InAllWays(t *testing.T, f func(t *testing.T)) {
	foresees, near, many, far := foreseesRows, nearBytes, nearManyBytes, farRowsBytes
	defer func() { foreseesRows, nearBytes, nearManyBytes, farRowsBytes = foresees, near, many, far }()
	for _, way := range []struct {
		name     string
		foresees bool
		near     int64
	}{{"near", false, 1 << 40}, {"foreseen", true, 1 << 40}, {"far", false, 0}} {
		foreseesRows, nearBytes, nearManyBytes, farRowsBytes = way.foresees, way.near, way.near, way.near
		t.Run(way.name, f)
	}
}
