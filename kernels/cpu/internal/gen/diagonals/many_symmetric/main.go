// Command many_symmetric generates the kernels that multiply symmetric diagonals, of which only the
// lower triangle is stored, by as many vectors at once as fill a register.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	for _, l := range lanes.All() {
		c := &columns{l}
		diagonals(c)
	}
	Generate()
}

// aheadBytes is the number of bytes by which values are prefetched, aheadRows the number of rows by
// which rows of x and y are.
const (
	aheadBytes = 4096
	aheadRows  = 8
)

// columns is as many columns of x and y as fill a register. The register may differ from the one
// for which values are laid out, so the number of lanes is an argument. Other numbers of columns
// would need masks, and loading what was stored under a mask makes the processor wait.
type columns struct {
	lanes.Lanes
}

// stride returns the bytes of one value per lane.
func (c *columns) stride() GPVirtual {
	s := Load(Param("lanes"), GP64()).(GPVirtual)
	IMUL3Q(Imm(uint64(c.Size())), s, s)
	return s
}

// add adds alpha*sum to the row at m.
func (c *columns) add(sum, alpha VecVirtual, m Mem) {
	y := c.Reg()
	c.Load(m, y)
	c.FMA(sum, alpha, y)
	c.Store(y, m)
}
