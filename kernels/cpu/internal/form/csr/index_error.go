package csr

import "fmt"

// IndexError is the value with which a kernel panics if an index is outside a block.
type IndexError struct {
	Index int32
	Rows  int
}

func (e IndexError) Error() string {
	return fmt.Sprintf("index %d out of range of %d rows", e.Index, e.Rows)
}
