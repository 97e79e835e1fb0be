package numa

import (
	"errors"
	"fmt"
)

// ErrRefused says that the system did not do what Pin, Prefer, Bind, Interleave or
// Pages asked for: the kernel or a container forbids the call, the node or CPU is
// not there, or the system is not Linux. Nothing was changed, and a program may go
// on without.
var ErrRefused = errors.New("placement refused")

// PageCount says where the pages of a piece of memory are.
type PageCount struct {
	Nodes   map[int]int // pages by the ID of the node that they are on
	Missing int         // pages that nothing has touched yet: they are nowhere
}

// Pages is the number of pages that are on some node.
func (c PageCount) Pages() (sum int) {
	for _, n := range c.Nodes {
		sum += n
	}
	return sum
}

// Add counts the pages of another piece of memory too.
func (c *PageCount) Add(more PageCount) {
	if c.Nodes == nil {
		c.Nodes = map[int]int{}
	}
	for node, n := range more.Nodes {
		c.Nodes[node] += n
	}
	c.Missing += more.Missing
}

func refused(call string, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrRefused, call, err)
}
