//go:build !amd64 && !arm64

package form

// There is no assembly: none of these is called.

func fence() {}

func loadAhead(p *byte, lines int) {}

func pack57(n int, val *float64, low uint64, out *byte) (done int) { return 0 }

func minMaxKernel(idx []int32) (lo, hi int32) { return 0, 0 }
