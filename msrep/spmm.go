package msrep

import (
	"context"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// SpMM computes Y = alpha*op(A)*X + beta*Y for all vectors of two blocks and says
// how long each phase took.
//
// op(A) is m x n; the vectors of X have n elements and those of Y have m, and the
// blocks must not overlap. beta = 0 overwrites Y without reading it; alpha = 0
// reads neither A nor X. CPU devices read the matrix once for all vectors, in the
// form that they packed it in or in CSR, when op gathers in the format of the plan (A
// in CSR, its transpose in CSC, or as expected by ExpectedTransposed). In all other
// cases the vectors are multiplied one after the other. Blocks by column are turned
// first; the plan keeps the memory for that, and does without where it is scarce. Where X
// has more than 16 MB and the matrix is multiplied in CSR, CPU devices try a copy of X in
// another order in the fourth and fifth product with as many vectors, and keep the column
// numbers for it, 4 bytes an entry, if that was faster: no result changes by it. State
// ExpectedVectors where products have several vectors. Bad
// arguments are *sparse.InputError and leave Y alone; after any other error, also when
// ctx ends, Y is unspecified.
func (p *Plan[V]) SpMM(ctx context.Context, op Op, alpha V, x Block[V], beta V, y Block[V]) (t Timing, err error) {
	defer rescue(&err)
	if p == nil {
		return t, errNoPlan
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.sys.span("spmm", &err)()
	if err := p.usable(ctx); err != nil {
		return t, err
	}
	if err := p.checkBlocks(op, x, y); err != nil {
		return t, err
	}
	if p.other != nil && !p.lay.gathers(op) {
		return p.other.SpMM(ctx, op, alpha, x, beta, y)
	}
	if alpha == 0 || !p.atOnce(op) || !p.canTurn(x, y) {
		return p.oneByOne(ctx, op, alpha, x, beta, y)
	}
	begin := time.Now()
	if err := p.gatherMany(ctx, alpha, x, beta, y, &t); err != nil {
		if ctx.Err() == nil {
			p.broken = err
		}
		return t, err
	}
	t.Total = time.Since(begin)
	return t, nil
}

func (p *Plan[V]) checkBlocks(op Op, x, y Block[V]) error {
	rows, cols := p.Dims()
	if op == Trans {
		rows, cols = cols, rows
	}
	if x.Count != y.Count {
		return sparse.Inputf("y", "%d vectors: x has %d", y.Count, x.Count)
	}
	if err := x.Check("x", cols); err != nil {
		return err
	}
	if err := y.Check("y", rows); err != nil {
		return err
	}
	if mem.Overlap(x.Val, y.Val) {
		return sparse.Inputf("y", "shares memory with x: the product would read what it has written")
	}
	return nil
}

// atOnce reports whether all devices read the matrix once for all vectors: in its
// form, or in CSR unless that was released.
func (p *Plan[V]) atOnce(op Op) bool {
	if !p.lay.gathers(op) || p.lay.ptr == nil || p.opt.Deterministic || p.opt.Precision.Segments != 0 {
		return false
	}
	for _, s := range p.shares {
		if s.inPlace == nil || p.src == nil && !s.packsMany() {
			return false
		}
	}
	return true
}

// canTurn reports whether there is memory to turn those blocks that lie by column.
func (p *Plan[V]) canTurn(x, y Block[V]) bool {
	var forX, forY int64
	if x.ByColumn {
		forX = int64(p.lay.minors) * int64(x.Count)
	}
	if y.ByColumn {
		forY = int64(p.lay.majors) * int64(y.Count)
	}
	return p.byRow.fits(forX, forY)
}

// packsMany reports whether the form of the part multiplies several vectors at once.
func (s *share[V]) packsMany() bool {
	m, ok := s.packed.(kernels.ManyMultiplier)
	return ok && m.MultipliesMany()
}

// oneByOne multiplies one vector after the other.
func (p *Plan[V]) oneByOne(ctx context.Context, op Op, alpha V, x Block[V], beta V, y Block[V]) (t Timing, err error) {
	rows, cols := p.Dims()
	if op == Trans {
		rows, cols = cols, rows
	}
	xj, yj := make([]V, cols), make([]V, rows)
	for j := range x.Count {
		in, out := x.vector(j, xj), yj
		if y.ByColumn || beta != 0 {
			out = y.vector(j, yj)
		}
		one, err := p.multiply(ctx, op, alpha, in, beta, out)
		if err != nil {
			return t, err
		}
		if !y.ByColumn {
			y.Set(j, out)
		}
		t.add(one)
	}
	return t, nil
}

// add joins the times of another product, done after this one.
func (t *Timing) add(o Timing) {
	t.Distribute += o.Distribute
	t.Kernel += o.Kernel
	t.Merge += o.Merge
	t.Total += o.Total
	if t.Devices == nil {
		t.Devices = make([]time.Duration, len(o.Devices))
	}
	for i, d := range o.Devices {
		t.Devices[i] += d
	}
}

// gatherMany multiplies all vectors at once, row by row.
func (p *Plan[V]) gatherMany(ctx context.Context, alpha V, x Block[V], beta V, y Block[V], t *Timing) error {
	begin := time.Now()
	to := y
	if x.ByColumn {
		turned, err := p.byRow.block(&p.byRow.x, p.lay.minors, x.Count)
		if err != nil {
			return err
		}
		x.turn(turned, p.lay.minors, false)
		x = turned
	}
	if y.ByColumn {
		var err error
		if to, err = p.byRow.block(&p.byRow.y, p.lay.majors, y.Count); err != nil {
			return err
		}
		if beta != 0 {
			y.turn(to, p.lay.majors, false)
		}
	}
	t.Distribute = time.Since(begin)
	t.Devices = make([]time.Duration, len(p.shares))
	carries := make([][]V, len(p.shares))
	err := p.each(func(i int) (err error) {
		if err := ctx.Err(); err != nil {
			return err
		}
		carries[i], t.Devices[i], err = p.shares[i].gatherMany(p.lay, alpha, x, beta, to)
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range t.Devices {
		t.Kernel = max(t.Kernel, d)
	}
	begin = time.Now()
	for i, c := range carries {
		row := p.parts[i].StartMajor * to.Stride
		for j, v := range c {
			to.Val[row+j] += v
		}
	}
	if y.ByColumn {
		y.turn(to, p.lay.majors, true)
	}
	t.Merge = time.Since(begin)
	return nil
}

// gatherMany multiplies the part. The carry is nil where the first row is its own.
func (s *share[V]) gatherMany(l layout[V], alpha V, x Block[V], beta V, y Block[V]) (carry []V, took time.Duration, err error) {
	d, p := s.inPlace, s.part
	if p.StartFlag {
		carry = make([]V, y.Count)
	}
	own := y.Val[min(p.OwnFirst*y.Stride, len(y.Val)):]
	if p.OwnEnd > p.OwnFirst {
		own = own[:(p.OwnEnd-p.OwnFirst-1)*y.Stride+y.Count]
	} else {
		own = own[:0]
	}
	xs := kernels.Block[V]{Val: kernels.AdoptArray(d, x.Val), Cols: x.Count, Stride: x.Stride}
	ys := kernels.Block[V]{Val: kernels.AdoptArray(d, own), Cols: y.Count, Stride: y.Stride}
	carries := kernels.AdoptArray(d, carry)
	if s.packsMany() {
		took, err = s.kernel(&kernels.GatherManyPacked[V]{A: s.packed, Alpha: alpha, Beta: beta, X: xs, Y: ys, Carry: carries})
		return carry, took, err
	}
	if err := s.place(l); err != nil {
		return nil, 0, err
	}
	a := kernels.Compressed[V]{Part: p.Shift(p.First(), 0), Ptr: s.ptr, Idx: s.minor, Val: s.val}
	took, err = s.kernel(&kernels.GatherMany[V]{A: a, Alpha: alpha, Beta: beta, X: xs, Y: ys, Carry: carries})
	return carry, took, err
}
