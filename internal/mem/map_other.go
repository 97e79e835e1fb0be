//go:build !unix

package mem

// mapRegion takes the Go heap where there is no mmap.
func mapRegion(n int64) (*Region, error) { return &Region{bytes: Aligned(n)}, nil }

func unmap([]byte) error { return nil }
