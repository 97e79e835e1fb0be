package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// InLinks returns the matrix of the links into each node, the operator of PageRankOver, PageRanks, HITS and Katz:
//
//	links[j][i] = a[i][j]      or 1 where weighted is false
//
// and out, the sum of each row of a: the weights of the links from each node. Entry (i, j) of a is a link from i to j.
// Weights must be finite and not negative. Wrong arguments are *sparse.InputError.
func InLinks(ctx context.Context, a *sparse.CSR[float64], weighted bool) (links *sparse.CSR[float64], out []float64, err error) {
	if err := cmp.Or(given.Context(ctx), check(a)); err != nil {
		return nil, nil, err
	}
	if err := graphFits(a.Rows, len(a.ColIdx), "transpose them", 16*int64(a.Rows)+20*a.NNZ()); err != nil {
		return nil, nil, err
	}
	ones := *a
	if weighted {
		if out, err = weightsOut(a); err != nil {
			return nil, nil, err
		}
	} else {
		ones.Val = make([]float64, len(a.ColIdx))
		for k := range ones.Val {
			ones.Val[k] = 1
		}
		out = make([]float64, a.Rows)
		for i := range out {
			out[i] = float64(a.RowPtr[i+1] - a.RowPtr[i])
		}
	}
	links = sparse.ToCSC[float64](&ones).Transpose()
	return links, out, ctx.Err()
}

// operator is a square operator of the links into each node, with sums over the pieces of all processes.
type operator struct {
	links msrep.Operator[float64]
	procs *space.Processes // nil for an operator that is not Distributed
	ctx   context.Context
	own   int       // number of nodes of this process
	nodes int       // number of nodes of all processes
	part  []float64 // the sums of each chunk
}

// newOperator checks the arguments of an iteration that needs count vectors. checked is the error of the other arguments
// of this process for rows nodes, or nil; same holds numbers that must be the same in all processes.
func newOperator(ctx context.Context, links msrep.Operator[float64], count int, checked func(rows int) error, same ...float64) (*operator, error) {
	if err := cmp.Or(given.Context(ctx), given.Check("matrix", links)); err != nil {
		return nil, err
	}
	rows, cols := links.Dims()
	err := checked(rows)
	if err == nil && rows != cols {
		err = sparse.Inputf("matrix", "%d x %d: the matrix of a graph must be square", rows, cols)
	}
	if err == nil {
		err = vectorsFit(rows, count)
	}
	all, fault := space.NewProcesses(links)
	err = errors.Join(err, fault)
	if all != nil {
		err = all.Begin(ctx, new(float64), err, same...)
	}
	if err != nil {
		return nil, err
	}
	o := &operator{links: links, procs: all, ctx: ctx, own: rows, nodes: rows}
	if all != nil {
		_, o.nodes = all.Op.Piece()
	}
	return o, nil
}

// multiply computes y = alpha*op(links)*x. err is the error of this process so far. Where the operator is distributed,
// the next sum returns the error, because other processes wait for it.
func (o *operator) multiply(op msrep.Transpose, alpha float64, x, y []float64) (now, later error) {
	ctx := o.ctx
	if o.procs != nil { // sums check ctx, for all processes
		ctx = context.WithoutCancel(ctx)
	}
	err := o.links.SpMV(ctx, op, alpha, x, 0, y)
	if o.procs == nil {
		return err, nil
	}
	return nil, err
}

// sum adds the results of f over all chunks [lo, hi) of the nodes of all processes to out. f adds its sums to its last
// argument, which has the length of out. err is the error of this process so far, or nil.
func (o *operator) sum(err error, out []float64, f func(lo, hi int, sums []float64)) error {
	k := len(out)
	if n := k * ((o.own + space.SumChunk - 1) / space.SumChunk); len(o.part) != n {
		o.part = make([]float64, n)
	}
	clear(o.part)
	failed := space.OnWorkers(o.links, len(o.part)/k, func(lo, hi int) {
		for c := lo; c < hi; c++ {
			f(c*space.SumChunk, min((c+1)*space.SumChunk, o.own), o.part[k*c:k*c+k])
		}
	})
	if err == nil {
		err = failed
	}
	if o.procs == nil {
		space.AddChunks(o.part, out)
		return err
	}
	return o.procs.Total(o.ctx, o.part, out, err)
}

// total returns the sum of v over all processes.
func (o *operator) total(err error, v []float64) (float64, error) {
	var out [1]float64
	err = o.sum(err, out[:], func(lo, hi int, sums []float64) {
		for _, w := range v[lo:hi] {
			sums[0] += w
		}
	})
	return out[0], err
}

// scaled returns the piece v of a vector, divided by the sum of the vector; nil if v is nil. name stands for v in errors.
func (o *operator) scaled(name string, v []float64) ([]float64, error) {
	if v == nil {
		return nil, nil
	}
	sum, err := o.total(nil, v)
	if err == nil && o.nodes > 0 {
		err = checkSum(name, sum)
	}
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] / sum
	}
	return out, nil
}

// stop returns the error of a context that ended. Where the operator is distributed, the sums return it.
func (o *operator) stop() error {
	if o.procs != nil {
		return nil
	}
	return space.ContextError(o.ctx)
}

// vectorsFit returns an error where count vectors of n elements do not fit in memory.
func vectorsFit(n, count int) error {
	need := 8 * int64(count) * int64(n)
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("matrix", "%d nodes: the %d vectors of the iteration take %d bytes, %d are available", n, count, need, have)
	}
	return nil
}

// diverged returns an error that wraps ErrDiverged.
func diverged(method, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", method, ErrDiverged, fmt.Sprintf(format, args...))
}
