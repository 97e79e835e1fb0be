package numa

import (
	"errors"
	"fmt"
)

// ErrRefused reports that the system did not do what Pin, Prefer, Bind, Interleave or
// Pages requested: the kernel or a container forbids the call, the node or CPU does not
// exist, or the system is not Linux. Nothing was changed, and the program may continue.
var ErrRefused = errors.New("placement refused")

// PageCount counts pages of memory by node.
type PageCount struct {
	Nodes   map[int]int // number of pages by node ID
	Missing int         // pages that are on no node because nothing has touched them yet
}

// Pages returns the number of pages that are on some node.
func (c PageCount) Pages() (sum int) {
	for _, n := range c.Nodes {
		sum += n
	}
	return sum
}

// Add adds the counts of more to c.
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
