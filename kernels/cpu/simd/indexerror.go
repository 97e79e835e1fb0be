package simd

import "fmt"

// indexError is the value with which a kernel panics if an index is outside a block.
type indexError struct {
	index int32
	rows  int
}

func (e indexError) Error() string {
	return fmt.Sprintf("index %d out of range of %d rows", e.index, e.rows)
}
