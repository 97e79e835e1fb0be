package launch

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
)

// segmentsOf returns the part of an operation on segments.
func segmentsOf(b *builder, a kernels.Packed) *packedSegments {
	p, ok := a.(*packedSegments)
	switch {
	case !ok || p == nil:
		b.err = fmt.Errorf("%w: a packed part of another kind of device, or without segments", kernels.ErrArgument)
		return nil
	case p.freed.Load():
		b.err = fmt.Errorf("%w: the packed part was freed", kernels.ErrClosed)
		return nil
	}
	return p
}

// vector returns the address of a vector of n values and checks its precision. of is
// the number of segments that the vector must have, unless it is plain.
func vector(b *builder, name string, v kernels.SegmentVector, n int64, of int) Addr {
	if b.err == nil && (v.Read < 0 || v.Read > v.Of || v.Read > 0 && v.Of != of) {
		b.err = fmt.Errorf("%w: %s has %d of %d segments, it needs some of %d, or plain values", kernels.ErrArgument, name, v.Read, v.Of, of)
	}
	return array(b, name, v.Val, n)
}

// majorProductSegments plans a product.
func majorProductSegments(b *builder, op *kernels.MajorProductSegments) {
	p := segmentsOf(b, op.A)
	if p == nil {
		return
	}
	of, read := p.precision.Count, op.Read
	if read == 0 {
		read = p.precision.Read
	}
	if read < 0 || read > of || (read == 0) != p.ones {
		b.err = fmt.Errorf("%w: %d of %d segments of the values", kernels.ErrArgument, read, of)
		return
	}
	owned := int64(p.part.OwnEnd - p.part.OwnFirst)
	v := segmentVectors{
		vectors: vectors[float64]{
			x: vector(b, "x", op.X, p.minors, of), y: vector(b, "y", op.Y, owned, of), carry: openCarry(b, p.part, op.Carry),
			rows: int64(p.part.Majors()), skip: skip(p.part), alpha: op.Alpha, beta: op.Beta,
		},
		xlen: p.minors, xread: int64(op.X.Read), ylen: owned, yread: int64(op.Y.Read),
	}
	switch {
	case b.err != nil || v.rows == 0:
	case !p.joined:
		p.segmented(b, fmt.Sprintf("%dof%d", read, of), v)
	case v.xread != 0 || v.yread != 0:
		b.err = fmt.Errorf("%w: the values are plain now, so x and y must be plain", kernels.ErrArgument)
	default:
		p.plain(b, v.vectors)
	}
}

// joinSegments plans the conversion of the part's values to plain ones, for all later
// operations.
func joinSegments(b *builder, op *kernels.JoinSegments) {
	p := segmentsOf(b, op.A)
	if p == nil || p.joined {
		return
	}
	if p.ones {
		b.err = fmt.Errorf("%w: the part has no values", kernels.ErrArgument)
		return
	}
	if p.joined = true; p.places == 0 {
		return
	}
	b.call(fmt.Sprintf("msrep_cpms_join_%d", p.precision.Count), p.places, p.val(b), p.places)
}

// reduceBlocks limits the number of partial sums of a reduction.
const reduceBlocks = 1024

// reduce plans a kernel that leaves one partial sum for each block, and their addition.
// args returns the kernel's arguments, given the partial sums.
func (b *builder) reduce(name string, items int64, out Addr, args func(partial Temp) []any) {
	info := b.lookup(name)
	if b.err != nil {
		return
	}
	blocks := max(min(info.Blocks(items), reduceBlocks), 1)
	partial := temp[float64](b, "partial", blocks)
	b.call("msrep_fill_f64", blocks, partial, blocks, 0.0) // a device may use fewer blocks
	b.prog.Calls = append(b.prog.Calls, Call{Kernel: info, Blocks: blocks, Args: args(partial)})
	b.call("msrep_total", blocks, partial, out, blocks)
}

// within checks that [first, first+count) is a range of n elements.
func within(b *builder, first, count, n int64) {
	if b.err == nil && (first < 0 || count < 0 || count > n-first) {
		b.err = fmt.Errorf("%w: %d elements from %d on of %d", kernels.ErrArgument, count, first, n)
	}
}

// degrees returns the address of the weights of count elements, 0 if all are 1.
func degrees(b *builder, a kernels.Array[int32], count int64) Addr {
	if a.Len == 0 {
		return 0
	}
	return array(b, "degree", a, count)
}

// family returns the number of segments in the names of a vector's kernels; plain
// vectors use those for 2.
func family(v kernels.SegmentVector) int {
	if v.Of == 4 {
		return 4
	}
	return 2
}

func rankSegments(b *builder, op *kernels.RankSegments) {
	n, count, of := op.Cur.Val.Len, op.Sums.Len, max(family(op.Cur), family(op.Next))
	within(b, op.First, count, n)
	sums, cur, next := array(b, "sums", op.Sums, count), vector(b, "cur", op.Cur, n, of), vector(b, "next", op.Next, n, of)
	degree, diff := degrees(b, op.Degree, count), array(b, "diff", op.Diff, 1)
	b.reduce(fmt.Sprintf("msrep_cpms_rank_%d", of), count, diff, func(partial Temp) []any {
		return []any{sums, cur, next, degree, partial, n, int64(op.Cur.Read), int64(op.Next.Read), op.First, count, op.Add}
	})
}

func sumSegments(b *builder, op *kernels.SumSegments) {
	n, of := op.P.Val.Len, family(op.P)
	p, sum := vector(b, "p", op.P, n, of), array(b, "sum", op.Sum, 1)
	if op.Node.Len > 0 {
		node := array(b, "node", op.Node, op.Node.Len)
		b.reduce(fmt.Sprintf("msrep_cpms_pick_%d", of), op.Node.Len, sum, func(partial Temp) []any {
			return []any{p, node, partial, n, int64(op.P.Read), op.Node.Len}
		})
		return
	}
	within(b, op.First, op.Count, n)
	degree := degrees(b, op.Degree, op.Count)
	b.reduce(fmt.Sprintf("msrep_cpms_norm1_%d", of), op.Count, sum, func(partial Temp) []any {
		return []any{p, degree, partial, n, int64(op.P.Read), op.First, op.Count}
	})
}

func divideSegments(b *builder, op *kernels.DivideSegments) {
	n, of := op.P.Val.Len, family(op.P)
	p := vector(b, "p", op.P, n, of)
	if n > 0 {
		b.call(fmt.Sprintf("msrep_cpms_divide_%d", of), n, p, n, int64(op.P.Read), int64(0), n, op.By)
	}
}
