//go:build amd64

package simd

import "unsafe"

// pack57Assembly is pack for eights of values, up to the first of which one is out of
// range. It gives their number.
func pack57Assembly(s *Values57, val []float64) int {
	return pack57(len(val)/8, unsafe.SliceData(val), uint64(s.Low)<<53, bytesFrom(s.Bytes, s.n/8*eight57))
}
