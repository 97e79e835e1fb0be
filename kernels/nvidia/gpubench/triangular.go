package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse"
)

// triangleOf returns the upper or the lower triangle of a square matrix, which has the
// pattern of its ILU(0) factor. The diagonal is 1 + the sum of the absolute values of
// the row, so that solutions do not grow.
func triangleOf[V sparse.Value](a *sparse.CSR[V], upper bool) *kernels.TrianglePacking[V] {
	t := &kernels.TrianglePacking[V]{Upper: upper, Ptr: make([]int64, 1, a.Rows+1), Diag: make([]V, a.Rows)}
	var row []int64 // columns and entries
	for r := range a.Rows {
		row = row[:0]
		for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
			if c := int(a.ColIdx[k]); c < r && !upper || c > r && upper {
				row = append(row, int64(c)<<32|(k-a.RowPtr[r]))
			}
		}
		slices.Sort(row)
		sum := V(1)
		for i, e := range row {
			c, v := int32(e>>32), a.Val[a.RowPtr[r]+e&math.MaxUint32]
			if i > 0 && c == int32(row[i-1]>>32) {
				continue
			}
			t.Idx, t.Val = append(t.Idx, c), append(t.Val, v)
			sum += V(math.Abs(float64(v)))
		}
		t.Ptr, t.Diag[r] = append(t.Ptr, int64(len(t.Idx))), sum
	}
	return t
}

// vendor is a device that also packs triangles for the library of its vendor.
type vendor interface {
	PackTriangleCuSPARSE(op kernels.Operation) (kernels.Packed, error)
}

// measureTriangles solves with both triangles of a matrix, with this project's kernels
// and with cuSPARSE.
func measureTriangles[V sparse.Value](ctx context.Context, b *bench, name, value string, a *sparse.CSR[V]) error {
	if a.Rows != a.Cols {
		return sparse.Inputf(name, "it has %d rows and %d columns: it has no triangular systems", a.Rows, a.Cols)
	}
	info := b.dev.Info()
	for _, side := range []string{"lower", "upper"} {
		op := triangleOf(a, side == "upper")
		for _, form := range []kernels.Form{"", nvidia.FormCuSPARSE} {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r, least := solve(b, op, form)
			if err := print(map[string]any{"what": "triangular", "matrix": name, "value": value, "side": side, "device": info.ID, "name": info.Name,
				"rows": op.Rows(), "nnz": len(op.Idx), "least_bytes": least, "forms": []result{r}}); err != nil {
				return err
			}
			if r.Error != "" && b.stream.Sync() != nil { // Sync returns errors that the solve left on the stream
				if err := b.stream.Sync(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// solve measures one form, and returns the least bytes that a solve moves: the triangle,
// b and x once.
func solve[V sparse.Value](b *bench, op *kernels.TrianglePacking[V], form kernels.Form) (r result, least int64) {
	n := int64(op.Rows())
	least = int64(len(op.Idx))*(4+mem.Size[V]()) + n*(8+3*mem.Size[V]())
	r.Form = string(form)
	if form == "" {
		r.Form = "own"
	}
	x, err := timeSolve(b, op, form, &r)
	if err != nil {
		r.Error = err.Error()
		return r, least
	}
	if r.Seconds > 0 {
		r.GBPerS = float64(least) / r.Seconds / 1e9
	}
	r.Worst = residual(op, x)
	return r, least
}

func rhs[V sparse.Value](n int) []V {
	b := make([]V, n)
	for i := range b {
		b[i] = V(math.Sin(float64(i + 1)))
	}
	return b
}

// timeSolve packs a triangle, measures solves and returns x.
func timeSolve[V sparse.Value](b *bench, op *kernels.TrianglePacking[V], form kernels.Form, r *result) (x []V, err error) {
	pack := func(kernels.Operation) (kernels.Packed, error) { return nil, kernels.ErrNotSupported }
	if p, ok := b.dev.(kernels.Packer); ok && form == "" {
		pack = p.Pack
	} else if v, ok := b.dev.(vendor); ok && form != "" {
		pack = v.PackTriangleCuSPARSE
	}
	begin := time.Now()
	packed, err := pack(op)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, packed.Free()) }()
	info := packed.Info()
	r.PackS, r.Why, r.Kept, r.Bytes = time.Since(begin).Seconds(), info.Why, string(info.Form), info.Bytes
	n := op.Rows()
	from, err := kernels.NewArray[V](b.dev, int64(n))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Free()) }()
	to, err := kernels.NewArray[V](b.dev, int64(n))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.Free()) }()
	if err := errors.Join(from.Write(b.stream, rhs[V](n)), b.stream.Sync()); err != nil {
		return nil, err
	}
	one := func(a kernels.Array[V]) kernels.MultiVector[V] {
		return kernels.MultiVector[V]{Val: a, Cols: 1, Stride: 1}
	}
	system := &kernels.TriangularSolve[V]{A: packed, Alpha: 1, B: one(from), X: one(to)}
	took, spell, err := b.time(func() error { return b.stream.Launch(system) })
	if err != nil {
		return nil, err
	}
	r.Seconds, r.Spell = took.Seconds(), spell
	x = make([]V, n)
	return x, errors.Join(to.Read(b.stream, x), b.stream.Sync())
}

// residual returns the largest |T x - b| of a row in units of eps*(|T||x| + |b|).
func residual[V sparse.Value](op *kernels.TrianglePacking[V], x []V) (most float64) {
	eps := 0x1p-53
	if mem.Size[V]() == 4 {
		eps = 0x1p-24
	}
	b := rhs[V](op.Rows())
	for r := range x {
		own := float64(op.Diag[r]) * float64(x[r])
		sum, size := own-float64(b[r]), math.Abs(own)+math.Abs(float64(b[r]))
		for k := op.Ptr[r]; k < op.Ptr[r+1]; k++ {
			v := float64(op.Val[k]) * float64(x[op.Idx[k]])
			sum, size = sum+v, size+math.Abs(v)
		}
		if d := math.Abs(sum) / (eps * size); d > most {
			most = d
		} else if !(d <= math.MaxFloat64) && sum != 0 { // NaN
			return math.MaxFloat64
		}
	}
	return min(most, math.MaxFloat64)
}
