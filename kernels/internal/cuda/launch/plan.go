package launch

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// CSRKernel selects the kernels for kernels.MajorProduct.
type CSRKernel string

// These are the kernels for kernels.MajorProduct.
const (
	Vector CSRKernel = "vector" // msrep_major_vectorL, L from cuda.Lanes
	Merge  CSRKernel = "merge"  // msrep_merge_path, msrep_major_merge, msrep_add_carries
)

// Plan plans an operation as README.md of package cuda describes. An error wraps
// kernels.ErrArgument if the arrays do not fit, and kernels.ErrNotSupported for an
// unknown operation.
func Plan(op kernels.Operation, m Memory, g CSRKernel) (*Program, error) {
	b := &builder{mem: m}
	known := product[float64](b, op, g) || product[float32](b, op, g) || segmentOp(b, op) || spgemmOp(b, op) ||
		vectorOp[float64](b, op) || vectorOp[float32](b, op) || pointerOp(b, op) || cgOp(b, op) || ownOp(b, op)
	if !known {
		return nil, kernels.ErrNotSupported
	}
	if b.err != nil {
		return nil, b.err
	}
	return &b.prog, nil
}

// product plans a product with a part, a product of sparse matrices or a triangular solve, and reports whether op is one.
func product[V sparse.Value](b *builder, op kernels.Operation, g CSRKernel) bool {
	switch op := op.(type) {
	case *kernels.MajorProduct[V]:
		majorProduct(b, op, g, nil)
	case *kernels.MajorProductPacked[V]:
		majorProductPacked(b, op)
	case *kernels.MajorProductFixed[V]:
		majorProductFixed(b, op)
	case *kernels.MinorProduct[V]:
		minorProduct(b, op)
	case *kernels.MajorProductCOO[V]:
		majorProductCOO(b, op)
	case *kernels.MinorProductCOO[V]:
		minorProductCOO(b, op)
	case *kernels.TriangularSolve[V]:
		triangularSolve(b, op)
	case *kernels.SpGEMMFill[V]:
		spgemmFill(b, op)
	default:
		return false
	}
	return true
}

// segmentOp plans an operation on values in segments, and reports whether op is one.
func segmentOp(b *builder, op kernels.Operation) bool {
	switch op := op.(type) {
	case *kernels.MajorProductSegments:
		majorProductSegments(b, op)
	case *kernels.JoinSegments:
		joinSegments(b, op)
	case *kernels.RankSegments:
		rankSegments(b, op)
	case *kernels.SumSegments:
		sumSegments(b, op)
	case *kernels.DivideSegments:
		divideSegments(b, op)
	default:
		return false
	}
	return true
}

// pointerOp plans an operation on pointers, and reports whether op is one.
func pointerOp(b *builder, op kernels.Operation) bool {
	switch p := op.(type) {
	case *kernels.LocalPtr:
		if b.err = p.Check(); b.err == nil && p.Dst.Len > 0 {
			n := p.Dst.Len
			b.call("msrep_local_ptr", n, array(b, "ptr", p.Src, n), array(b, "dst", p.Dst, n), int64(0), n-1, p.Start, p.End)
		}
	case *kernels.COOPtr:
		if b.err = p.Check(); b.err == nil {
			nnz, n := p.Major.Len, p.Ptr.Len
			b.call("msrep_coo_ptr", n, array(b, "major", p.Major, nnz), array(b, "ptr", p.Ptr, n), nnz, p.First, n-1)
		}
	default:
		return false
	}
	return true
}

// planner is an operation of this package.
type planner interface{ plan(b *builder) }

// ownOp plans an operation of this package, and reports whether op is one.
func ownOp(b *builder, op kernels.Operation) bool {
	p, ok := op.(planner)
	if ok {
		p.plan(b)
	}
	return ok
}

// compressed holds the common arguments of the kernels for compressed parts.
type compressed struct {
	ptr, idx, val    Addr
	rows, first, end int64
	skip             int64
}

func openCompressed[V sparse.Value](b *builder, a kernels.Compressed[V]) compressed {
	p := a.Part
	if p.First() != 0 || p.Majors() < 0 || p.NNZ() < 0 {
		b.err = fmt.Errorf("%w: part %+v does not count from its first row", kernels.ErrArgument, p)
		return compressed{}
	}
	return compressed{
		ptr: array(b, "ptr", a.Ptr, int64(p.Majors())+1), idx: array(b, "idx", a.Idx, p.NNZ()), val: array(b, "val", a.Val, p.NNZ()),
		rows: int64(p.Majors()), first: p.StartIdx, end: p.EndIdx + 1, skip: skip(p),
	}
}

// skip returns 1 if the first major belongs to an earlier part, else 0.
func skip(p partition.Part) int64 {
	if p.StartFlag {
		return 1
	}
	return 0
}

// openCarry returns the address of the carry, 0 for a part without one.
func openCarry[V sparse.Value](b *builder, p partition.Part, a kernels.Array[V]) Addr {
	if !p.StartFlag {
		return 0
	}
	return array(b, "carry", a, 1)
}

// majorProduct plans kernels.MajorProduct. It takes the starts of the merge-path tiles from start;
// if start is nil, each product finds them again.
func majorProduct[V sparse.Value](b *builder, op *kernels.MajorProduct[V], g CSRKernel, start *kernels.Array[int32]) {
	a := openCompressed(b, op.A)
	v := vectors[V]{
		x: array(b, "x", op.X, op.X.Len), y: array(b, "y", op.Y, int64(op.A.Part.OwnEnd-op.A.Part.OwnFirst)),
		carry: openCarry(b, op.A.Part, op.Carry), rows: a.rows, skip: a.skip, alpha: op.Alpha, beta: op.Beta,
	}
	if b.err != nil || a.rows == 0 {
		return
	}
	if g == Vector && skewed(op.A.Longest, a.end-a.first) {
		g = Merge
	}
	majorProductRows(b, a, v, g, start)
}

// majorProductRows is majorProduct for a part with rows.
func majorProductRows[V sparse.Value](b *builder, a compressed, of vectors[V], g CSRKernel, start *kernels.Array[int32]) {
	v := suffix[V]()
	if g != Merge {
		name := fmt.Sprintf("msrep_major_vector%d%s", cuda.Lanes(a.rows, a.end-a.first), v)
		b.call(name, a.rows, a.ptr, a.idx, a.val, of.x, of.y, of.carry, a.rows, a.first, a.end, a.skip, of.alpha, of.beta)
		turns := int64(2)
		if a.end-a.first < 8*a.rows { // the work of a block at a time is short
			turns = 4
		}
		b.setGroupsPerBlock(turns)
		return
	}
	name := "msrep_major_merge" + v
	items := a.rows + a.end - a.first
	tiles := b.carries(name, items)
	var starts any
	if start != nil {
		starts = array(b, "start", *start, tiles+1)
	} else {
		t := temp[int32](b, "start", tiles+1)
		b.call("msrep_merge_path", tiles+1, a.ptr, t, a.rows, a.first, a.end)
		starts = t
	}
	row, val := temp[int32](b, "carryRow", tiles), temp[V](b, "carryVal", tiles)
	b.call(name, items, a.ptr, a.idx, a.val, of.x, of.y, of.carry, starts, row, val, a.rows, a.first, a.end, a.skip, of.alpha, of.beta)
	addCarries[V](b, row, val, of.y, of.carry, tiles, a.rows, a.skip)
}

// addCarries plans the addition of n carries to their rows. row and val are Addr or
// Temp.
func addCarries[V sparse.Value](b *builder, row, val any, y, carry Addr, n, rows, skip int64) {
	if n > 0 {
		b.call("msrep_add_carries"+suffix[V](), n, row, val, y, carry, n, rows, skip)
	}
}

// scale plans y = beta*y.
func scale[V sparse.Value](b *builder, y Addr, n int64, beta V) {
	if n > 0 && beta != 1 {
		b.call("msrep_scale"+suffix[V](), n, y, n, beta)
	}
}

func minorProduct[V sparse.Value](b *builder, op *kernels.MinorProduct[V]) {
	a := openCompressed(b, op.A)
	x := array(b, "x", op.X, a.rows)
	y := array(b, "y", op.Y, op.Y.Len)
	scale(b, y, op.Y.Len, op.Beta)
	if n := a.end - a.first; n > 0 {
		b.call("msrep_minor"+suffix[V](), n, a.ptr, a.idx, a.val, x, y, a.rows, a.first, a.end, op.Alpha)
		b.setGroupsPerBlock(8)
	}
}

// coordinate holds the common arguments of the kernels for coordinate parts.
type coordinate struct {
	major, minor, val Addr
	nnz               int64
}

func openCoordinate[V sparse.Value](b *builder, a kernels.Coordinate[V]) coordinate {
	p := a.Part
	if p.StartIdx != 0 || p.Majors() < 0 || p.NNZ() < 0 {
		b.err = fmt.Errorf("%w: part %+v does not count from its first entry", kernels.ErrArgument, p)
		return coordinate{}
	}
	n := p.NNZ()
	return coordinate{major: array(b, "major", a.Major, n), minor: array(b, "minor", a.Minor, n), val: array(b, "val", a.Val, n), nnz: n}
}

func majorProductCOO[V sparse.Value](b *builder, op *kernels.MajorProductCOO[V]) {
	p := op.A.Part
	owned := int64(p.OwnEnd - p.OwnFirst)
	a := openCoordinate(b, op.A)
	x := array(b, "x", op.X, op.X.Len)
	y := array(b, "y", op.Y, owned)
	carry := openCarry(b, p, op.Carry)
	v := suffix[V]()
	scale(b, y, owned, op.Beta)
	if p.StartFlag {
		b.call("msrep_fill"+v, 1, carry, int64(1), V(0))
	}
	if a.nnz == 0 {
		return
	}
	addCoordinates[V](b, a.major, a.minor, a.val, x, y, carry, a.nnz, owned, int64(p.OwnFirst), op.Alpha)
}

// addCoordinates plans the addition of nnz > 0 entries to y, and to the carry for
// majors below own.
func addCoordinates[V sparse.Value](b *builder, major, minor, val, x, y, carry Addr, nnz, owned, own int64, alpha V) {
	name := "msrep_major_coo" + suffix[V]()
	n := b.carries(name, nnz)
	row, sum := temp[int32](b, "carryRow", n), temp[V](b, "carryVal", n)
	b.call(name, nnz, major, minor, val, x, y, carry, row, sum, nnz, own, alpha)
	addCarries[V](b, row, sum, y, carry, n, owned+1, 1)
}

func minorProductCOO[V sparse.Value](b *builder, op *kernels.MinorProductCOO[V]) {
	a := openCoordinate(b, op.A)
	x := array(b, "x", op.X, op.X.Len)
	y := array(b, "y", op.Y, op.Y.Len)
	scale(b, y, op.Y.Len, op.Beta)
	if a.nnz > 0 {
		b.call("msrep_minor_coo"+suffix[V](), a.nnz, a.major, a.minor, a.val, x, y, a.nnz, op.Alpha)
	}
}
