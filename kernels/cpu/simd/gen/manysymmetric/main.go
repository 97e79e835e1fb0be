// Command manysymmetric generates the kernels that multiply symmetric matrices, of which
// only the lower triangle is stored, by several vectors at once: by as many columns as fill
// a register.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	for _, l := range lanes.All() {
		c := &columns{l}
		diagonals(c)
		for size := 2; size <= 6; size++ {
			blocks(c, size)
		}
	}
	Generate()
}

// Values are asked for so many bytes ahead, and rows of x and y so many rows.
const (
	aheadBytes = 4096
	aheadRows  = 8
)

// columns is as many columns of x and y as fill a register, which need not be as long as those
// that values are laid out for: how many lanes these have is an argument. Other numbers of columns would
// need masks, and what was stored under a mask and is loaded again makes the processor wait.
type columns struct {
	lanes.Lanes
}

// stride is the bytes of one value for each lane.
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
