package launch

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// maxParts limits the number of blocks that leave a partial sum. It fills a GPU several
// times over.
const maxParts = 1024

// projectWidth is the number of vectors that msrep_project and msrep_combine take at a
// time.
const projectWidth = 4

// vectorOp plans an operation on vectors, and reports whether op is one.
func vectorOp[V sparse.Value](b *builder, op kernels.Operation) bool {
	switch op := op.(type) {
	case *kernels.Axpby[V]:
		each[V](b, "axpby", op.Y.Len, input(b, "x", op.X, op.Y.Len), input(b, "y", op.Y, op.Y.Len), op.Y.Len, op.Alpha, op.Beta)
	case *kernels.Scale[V]:
		each[V](b, "scale", op.Y.Len, input(b, "y", op.Y, op.Y.Len), op.Y.Len, op.Beta)
	case *kernels.Fill[V]:
		each[V](b, "fill", op.Y.Len, input(b, "y", op.Y, op.Y.Len), op.Y.Len, op.Value)
	case *kernels.Elementwise[V]:
		elementwise(b, op)
	case *kernels.Take[V]:
		n := op.Y.Len
		x, idx := array(b, "x", op.X, op.X.Len), array(b, "idx", op.Idx, n)
		each[V](b, "permute", n, x, idx, input(b, "y", op.Y, n), n)
	case *kernels.AddCarries[V]:
		n := op.Row.Len
		row, val, y := array(b, "row", op.Row, n), array(b, "val", op.Val, n), array(b, "y", op.Y, op.Y.Len)
		if b.err == nil {
			addCarries[V](b, row, val, y, 0, n, op.Y.Len, 0)
		}
	case *kernels.SumPartials[V]:
		sumPartials(b, op)
	case *kernels.Pull[V]:
		pull(b, op)
	case *kernels.PullCarries[V]:
		pullCarries(b, op)
	case *kernels.Project[V]:
		project(b, op)
	case *kernels.Combine[V]:
		combine(b, op)
	default:
		return false
	}
	return true
}

// elementwise plans the kernel of a formula. Its arguments are those that kernels.Formula states.
func elementwise[V sparse.Value](b *builder, op *kernels.Elementwise[V]) {
	if b.err == nil {
		b.err = op.Check()
	}
	if b.err != nil {
		return
	}
	name, n := op.Formula.Kernel(), op.Vectors[0].Len
	var args, numbers []any
	for j, v := range op.Vectors {
		args = append(args, input(b, op.Formula.Vectors[j].Name, v, n))
	}
	for _, a := range op.Numbers {
		numbers = append(numbers, a)
	}
	if op.At.Len > 0 { // the kernel does not use the numbers before at
		numbers = slices.Repeat([]any{V(0)}, int(op.At.Len))
	}
	if len(numbers) > 0 {
		numbers = append(numbers, any(array(b, "at", op.At, op.At.Len)))
	}
	if op.Formula.Sums == 0 {
		each[V](b, name, n, slices.Concat(args, []any{n}, numbers)...)
		return
	}
	summed[V](b, name, n, int64(op.Formula.Sums), op.Sums, func(partial Temp, parts int64) []any {
		return slices.Concat(args, []any{partial, n, parts}, numbers)
	})
}

// input returns the address of a vector, as an argument.
func input[V sparse.Value](b *builder, name string, a kernels.Array[V], n int64) any {
	return array(b, name, a, n)
}

// each adds a call of an elementwise kernel.
func each[V sparse.Value](b *builder, name string, n int64, args ...any) {
	if n > 0 {
		b.call("msrep_"+name+suffix[V](), n, args...)
	}
}

// partsOf returns the number of blocks that leave a partial sum of n elements.
func partsOf[V sparse.Value](b *builder, name string, n int64) int64 {
	return min(b.lookup("msrep_"+name+suffix[V]()).Blocks(n), maxParts)
}

// inParts adds a call of a kernel with one block for each part.
func inParts[V sparse.Value](b *builder, name string, parts int64, args []any) {
	b.prog.Calls = append(b.prog.Calls, Call{Kernel: b.lookup("msrep_" + name + suffix[V]()), Blocks: parts, Args: args})
}

// summed adds a call of a kernel that leaves partial sums, and a call that adds them.
func summed[V sparse.Value](b *builder, name string, n, sums int64, out kernels.Array[float64], args func(partial Temp, parts int64) []any) {
	to := array(b, "sums", out, sums)
	parts := partsOf[V](b, name, n)
	partial := temp[float64](b, "partial", sums*parts)
	inParts[V](b, name, parts, args(partial, parts))
	b.call("msrep_totals", sums, partial, to, parts, sums)
}

// partialsWidth is the number of vectors that msrep_sum_partials adds.
const partialsWidth = 8

// sumPartials adds groups of vectors, then the sums of the groups, which is the same
// tree.
func sumPartials[V sparse.Value](b *builder, op *kernels.SumPartials[V]) {
	n := op.Y.Len
	y := array(b, "y", op.Y, n)
	var from []any
	for k, p := range op.P {
		from = append(from, any(peerArray(b, fmt.Sprintf("p%d", k), p, n)))
	}
	if len(from) == 0 {
		scale(b, y, n, op.Beta)
		return
	}
	add := func(to any, from []any, beta V) {
		args := append([]any{to}, from...)
		for range partialsWidth - len(from) {
			args = append(args, Addr(0))
		}
		each[V](b, "sum_partials", n, append(args, int64(len(from)), n, beta)...)
	}
	for len(from) > partialsWidth {
		var sums []any
		for group := range slices.Chunk(from, partialsWidth) {
			t := temp[V](b, "sums", n)
			add(t, group, 0)
			sums = append(sums, t)
		}
		from = sums
	}
	add(y, from, op.Beta)
}

// four returns the addresses of up to four vectors from index first, 0 for missing
// ones.
func four[V sparse.Value](b *builder, v []kernels.Array[V], first int, n int64) (args []any, count int) {
	args = []any{Addr(0), Addr(0), Addr(0), Addr(0)}
	count = min(len(v)-first, projectWidth)
	for i := range count {
		args[i] = input(b, fmt.Sprintf("v%d", first+i), v[first+i], n)
	}
	return args, count
}

func project[V sparse.Value](b *builder, op *kernels.Project[V]) {
	n := op.W.Len
	w, out := input(b, "w", op.W, n), array(b, "sums", op.Sums, int64(len(op.V)))
	if len(op.V) == 0 {
		b.err = fmt.Errorf("%w: no vectors", kernels.ErrArgument)
		return
	}
	parts := partsOf[V](b, "project", n)
	partial := temp[float64](b, "partial", min(int64(len(op.V)), projectWidth)*parts)
	for j := 0; j < len(op.V); j += projectWidth {
		v, count := four(b, op.V, j, n)
		inParts[V](b, "project", parts, append(v, w, partial, int64(count), n, parts))
		b.call("msrep_totals", int64(count), partial, out+Addr(int64(j)*mem.Size[float64]()), parts, int64(count))
	}
}

func combine[V sparse.Value](b *builder, op *kernels.Combine[V]) {
	n := op.W.Len
	wanted := op.Sums.Len > 0
	w, out := input(b, "w", op.W, n), array(b, "sums", op.Sums, min(op.Sums.Len, 1))
	if len(op.V) == 0 || len(op.H) != len(op.V) {
		b.err = fmt.Errorf("%w: %d vectors and %d factors", kernels.ErrArgument, len(op.V), len(op.H))
		return
	}
	parts := partsOf[V](b, "combine", n)
	for j := 0; j < len(op.V); j += projectWidth {
		v, count := four(b, op.V, j, n)
		var partial any = Addr(0)
		if wanted && j+projectWidth >= len(op.V) {
			partial = temp[float64](b, "partial", parts)
		}
		args := append(v, w, partial, int64(count), n, parts)
		for i := range projectWidth {
			h := V(0)
			if i < count {
				h = op.H[j+i]
			}
			args = append(args, h)
		}
		inParts[V](b, "combine", parts, args)
		if p, ok := partial.(Temp); ok {
			b.call("msrep_totals", 1, p, out, parts, int64(1))
		}
	}
}
