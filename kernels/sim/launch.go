package sim

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda"
	"github.com/msrep-go/msrep/kernels/ptx"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// launch runs an operation as kernels/cuda says that it is put together.
func (d *Device) launch(op kernels.Op) error {
	c := &call{dev: d}
	switch op := op.(type) {
	case *kernels.Gather[float64]:
		gather(c, op)
	case *kernels.Gather[float32]:
		gather(c, op)
	case *kernels.Scatter[float64]:
		scatter(c, op)
	case *kernels.Scatter[float32]:
		scatter(c, op)
	case *kernels.GatherCOO[float64]:
		gatherCOO(c, op)
	case *kernels.GatherCOO[float32]:
		gatherCOO(c, op)
	case *kernels.ScatterCOO[float64]:
		scatterCOO(c, op)
	case *kernels.ScatterCOO[float32]:
		scatterCOO(c, op)
	default:
		return kernels.ErrNotSupported
	}
	c.free()
	return c.err
}

// compressed is the arguments that the kernels of compressed parts share.
type compressed struct {
	ptr, idx, val    ptx.Addr
	rows, first, end int64
	skip             int64
}

func openCompressed[V sparse.Value](c *call, a kernels.Compressed[V]) compressed {
	p := a.Part
	if p.First() != 0 || p.Majors() < 0 || p.NNZ() < 0 {
		c.err = fmt.Errorf("%w: part %+v does not count from its first row", kernels.ErrArgument, p)
		return compressed{}
	}
	return compressed{
		ptr: array(c, "ptr", a.Ptr, int64(p.Majors())+1), idx: array(c, "idx", a.Idx, p.NNZ()), val: array(c, "val", a.Val, p.NNZ()),
		rows: int64(p.Majors()), first: p.StartIdx, end: p.EndIdx + 1, skip: skip(p),
	}
}

// skip is 1 when the first major belongs to an earlier part.
func skip(p partition.Part) int64 {
	if p.StartFlag {
		return 1
	}
	return 0
}

// openCarry is the address of the carry, 0 for a part that has none.
func openCarry[V sparse.Value](c *call, p partition.Part, a kernels.Array[V]) ptx.Addr {
	if !p.StartFlag {
		return 0
	}
	return array(c, "carry", a, 1)
}

func gather[V sparse.Value](c *call, op *kernels.Gather[V]) {
	a := openCompressed(c, op.A)
	x := array(c, "x", op.X, op.X.Len)
	y := array(c, "y", op.Y, int64(op.A.Part.OwnEnd-op.A.Part.OwnFirst))
	carry := openCarry(c, op.A.Part, op.Carry)
	if a.rows == 0 {
		return
	}
	v := suffix[V]()
	if c.dev.config.Gather == Vector {
		name := fmt.Sprintf("msrep_gather_vector%d%s", cuda.Lanes(a.rows, a.end-a.first), v)
		c.launch(name, a.rows, a.ptr, a.idx, a.val, x, y, carry, a.rows, a.first, a.end, a.skip, op.Alpha, op.Beta)
		return
	}
	name := "msrep_gather_merge" + v
	items := a.rows + a.end - a.first
	tiles := c.carries(name, items)
	start := scratch[int32](c, "start", tiles+1)
	row, val := scratch[int32](c, "carryRow", tiles), scratch[V](c, "carryVal", tiles)
	c.launch("msrep_merge_path", tiles+1, a.ptr, start, a.rows, a.first, a.end)
	c.launch(name, items, a.ptr, a.idx, a.val, x, y, carry, start, row, val, a.rows, a.first, a.end, a.skip, op.Alpha, op.Beta)
	addCarries[V](c, row, val, y, carry, tiles, a.rows, a.skip)
}

// addCarries adds n carries to their rows, level by level.
func addCarries[V sparse.Value](c *call, row, val, y, carry ptx.Addr, n, rows, skip int64) {
	name := "msrep_add_carries" + suffix[V]()
	for n > 0 && c.err == nil {
		left := c.carries(name, n)
		if left <= 1 {
			c.launch(name, n, row, val, y, carry, ptx.Addr(0), ptx.Addr(0), n, rows, skip)
			return
		}
		outRow, outVal := scratch[int32](c, "outRow", left), scratch[V](c, "outVal", left)
		c.launch(name, n, row, val, y, carry, outRow, outVal, n, rows, skip)
		row, val, n = outRow, outVal, left
	}
}

// scale is y = beta*y.
func scale[V sparse.Value](c *call, y ptx.Addr, n int64, beta V) {
	if n > 0 && beta != 1 {
		c.launch("msrep_scale"+suffix[V](), n, y, n, beta)
	}
}

func scatter[V sparse.Value](c *call, op *kernels.Scatter[V]) {
	a := openCompressed(c, op.A)
	x := array(c, "x", op.X, a.rows)
	y := array(c, "y", op.Y, op.Y.Len)
	scale(c, y, op.Y.Len, op.Beta)
	if n := a.end - a.first; n > 0 {
		c.launch("msrep_scatter"+suffix[V](), n, a.ptr, a.idx, a.val, x, y, a.rows, a.first, a.end, op.Alpha)
	}
}

// coordinate is the arguments that the kernels of coordinate parts share.
type coordinate struct {
	major, minor, val ptx.Addr
	nnz               int64
}

func openCoordinate[V sparse.Value](c *call, a kernels.Coordinate[V]) coordinate {
	p := a.Part
	if p.StartIdx != 0 || p.Majors() < 0 || p.NNZ() < 0 {
		c.err = fmt.Errorf("%w: part %+v does not count from its first entry", kernels.ErrArgument, p)
		return coordinate{}
	}
	n := p.NNZ()
	return coordinate{major: array(c, "major", a.Major, n), minor: array(c, "minor", a.Minor, n), val: array(c, "val", a.Val, n), nnz: n}
}

func gatherCOO[V sparse.Value](c *call, op *kernels.GatherCOO[V]) {
	p := op.A.Part
	owned := int64(p.OwnEnd - p.OwnFirst)
	a := openCoordinate(c, op.A)
	x := array(c, "x", op.X, op.X.Len)
	y := array(c, "y", op.Y, owned)
	carry := openCarry(c, p, op.Carry)
	v := suffix[V]()
	scale(c, y, owned, op.Beta)
	if p.StartFlag {
		c.launch("msrep_fill"+v, 1, carry, int64(1), V(0))
	}
	if a.nnz == 0 {
		return
	}
	name := "msrep_gather_coo" + v
	n := c.carries(name, a.nnz)
	row, val := scratch[int32](c, "carryRow", n), scratch[V](c, "carryVal", n)
	c.launch(name, a.nnz, a.major, a.minor, a.val, x, y, carry, row, val, a.nnz, int64(p.OwnFirst), op.Alpha)
	addCarries[V](c, row, val, y, carry, n, owned+1, 1)
}

func scatterCOO[V sparse.Value](c *call, op *kernels.ScatterCOO[V]) {
	a := openCoordinate(c, op.A)
	x := array(c, "x", op.X, op.X.Len)
	y := array(c, "y", op.Y, op.Y.Len)
	scale(c, y, op.Y.Len, op.Beta)
	if a.nnz > 0 {
		c.launch("msrep_scatter_coo"+suffix[V](), a.nnz, a.major, a.minor, a.val, x, y, a.nnz, op.Alpha)
	}
}
