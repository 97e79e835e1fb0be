package cpu

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/sparse"
)

// sumBlock is the number of elements of a vector that are summed together, so that sums do not depend on the number
// of workers.
const sumBlock = 1 << 13

// vectorOp runs an operation on vectors. known reports whether op is one.
func vectorOp[V sparse.Value](d *Device, op kernels.Operation) (known bool, err error) {
	v := &vectors[V]{Views: memory.NewViews(d.mem)}
	defer v.Close(&err)
	switch op := op.(type) {
	case *kernels.Axpby[V]:
		x, y := v.of("x", op.X), v.of("y", op.Y)
		err = v.each(func(lo, hi int) { vec.Axpby(op.Alpha, x[lo:hi], op.Beta, y[lo:hi]) })
	case *kernels.Scale[V]:
		y := v.of("y", op.Y)
		err = v.each(func(lo, hi int) {
			if op.Beta == 0 {
				clear(y[lo:hi])
				return
			}
			vec.ScaleTo(op.Beta, y[lo:hi], y[lo:hi])
		})
	case *kernels.Fill[V]:
		y := v.of("y", op.Y)
		err = v.each(func(lo, hi int) {
			for i := range y[lo:hi] {
				y[lo+i] = op.Value
			}
		})
	case *kernels.Elementwise[V]:
		err = v.compute(op)
	case *kernels.Take[V]:
		err = take(v.Views, op)
	case *kernels.AddCarries[V]:
		err = addCarries(v.Views, op)
	case *kernels.SumPartials[V]:
		y, ps := v.of("y", op.Y), v.all(op.P)
		if err = v.Err; err == nil {
			err = SumOn(d, y, op.Beta, ps)
		}
	default:
		return v.sumOp(op)
	}
	return true, err
}

// sumOp runs an operation that computes sums. known reports whether op is one.
func (v *vectors[V]) sumOp(op kernels.Operation) (known bool, err error) {
	switch op := op.(type) {
	case *kernels.Project[V]:
		w, vs := v.of("w", op.W), v.all(op.V)
		err = v.run(op.Sums, func(lo, hi int, sums []float64) {
			for j, u := range vs {
				sums[j] = vec.Dot(u[lo:hi], w[lo:hi])
			}
		})
	case *kernels.Combine[V]:
		w, vs := v.of("w", op.W), v.all(op.V)
		if v.Err == nil && (len(vs) == 0 || len(op.H) != len(vs)) {
			v.Err = fmt.Errorf("%w: %d vectors and %d factors", kernels.ErrArgument, len(vs), len(op.H))
		}
		err = v.run(op.Sums, func(lo, hi int, sums []float64) {
			ww := 0.0
			for j, u := range vs {
				ww = vec.Axpy(op.H[j], u[lo:hi], w[lo:hi])
			}
			if len(sums) > 0 {
				sums[0] = ww
			}
		})
	default:
		return false, nil
	}
	return true, err
}

// compute runs a formula.
func (v *vectors[V]) compute(op *kernels.Elementwise[V]) error {
	if err := op.Check(); err != nil {
		return err
	}
	whole := make([][]V, len(op.Vectors))
	for j, a := range op.Vectors {
		whole[j] = v.of(op.Formula.Vectors[j].Name, a)
	}
	loop, numbers := kernels.LoopOf[V](op.Formula), op.Numbers
	for _, a := range memory.View(v.Views, "at", op.At, op.At.Len) {
		numbers = append(numbers, V(a))
	}
	return v.runOn(op.Sums, func() func(lo, hi int, sums []float64) {
		part, partial := make([][]V, len(whole)), make([]vec.Sum, op.Formula.Sums)
		return func(lo, hi int, sums []float64) {
			for j, u := range whole {
				part[j] = u[lo:hi]
			}
			clear(partial)
			loop(numbers, part, partial)
			for j := range partial {
				sums[j] = partial[j].Total()
			}
		}
	})
}

// vectors is the arrays of an operation, which have equal lengths.
type vectors[V sparse.Value] struct {
	*memory.Views
	n     int64
	named bool // n is set
}

// of opens a vector.
func (v *vectors[V]) of(name string, a kernels.Array[V]) []V {
	if !v.named {
		v.n, v.named = a.Len, true
	}
	return memory.View(v.Views, name, a, v.n)
}

func (v *vectors[V]) all(as []kernels.Array[V]) [][]V {
	out := make([][]V, len(as))
	for j, a := range as {
		out[j] = v.of(fmt.Sprintf("v%d", j), a)
	}
	return out
}

// each calls f for all chunks.
func (v *vectors[V]) each(f func(lo, hi int)) error {
	return v.run(kernels.Array[float64]{}, func(lo, hi int, _ []float64) { f(lo, hi) })
}

// run calls f for all chunks, each with memory for its sums, and adds the sums in order.
func (v *vectors[V]) run(out kernels.Array[float64], f func(lo, hi int, sums []float64)) error {
	return v.runOn(out, func() func(lo, hi int, sums []float64) { return f })
}

// runOn is run with a function for each worker, which start makes.
func (v *vectors[V]) runOn(out kernels.Array[float64], start func() func(lo, hi int, sums []float64)) error {
	total := memory.View(v.Views, "sums", out, out.Len)
	if v.Err != nil {
		return v.Err
	}
	blocks := (v.n + sumBlock - 1) / sumBlock
	k := int64(len(total))
	part := make([]float64, blocks*k)
	t := int(max(min(int64(v.Mem.Pool.Size), blocks), 1))
	err := v.Mem.Pool.Run(t, func(i int) {
		f := start()
		for b := par.Cut(blocks, t, i); b < par.Cut(blocks, t, i+1); b++ {
			f(int(b*sumBlock), int(min((b+1)*sumBlock, v.n)), part[b*k:(b+1)*k])
		}
	})
	clear(total)
	for i, p := range part {
		total[int64(i)%k] += p
	}
	return err
}

func addCarries[V sparse.Value](v *memory.Views, op *kernels.AddCarries[V]) error {
	row, val := memory.View(v, "row", op.Row, op.Row.Len), memory.View(v, "val", op.Val, op.Row.Len)
	y := memory.View(v, "y", op.Y, op.Y.Len)
	if v.Err != nil {
		return v.Err
	}
	for k, r := range row {
		y[r] += val[k]
	}
	return nil
}

func take[V sparse.Value](v *memory.Views, op *kernels.Take[V]) error {
	x, y := memory.View(v, "x", op.X, op.X.Len), memory.View(v, "y", op.Y, op.Y.Len)
	idx := memory.View(v, "idx", op.Idx, op.Y.Len)
	if v.Err != nil {
		return v.Err
	}
	for k, i := range idx {
		y[k] = x[i]
	}
	return nil
}
