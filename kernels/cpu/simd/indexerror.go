package simd

import "fmt"

// indexError is what a kernel panics with when an index leaves a block.
type indexError struct {
	index int32
	rows  int
}

func (e indexError) Error() string {
	return fmt.Sprintf("index %d out of range of %d rows", e.index, e.rows)
}
