package msrep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/sparse"
)

// This file converts parts in COO on devices that have their own memory, for the strategy Optimized. The device makes
// pointers from the majors of its entries (kernels.COOPtr). It can then multiply its part as CSR, or as CSC if the part
// is sorted by column (MSREP paper, section 5.1). The plan times both ways and keeps the arrays of the faster one.

const (
	// minCompressProducts is the least number of expected products for which both ways are timed. Timing takes about
	// as long as 10 products. With fewer expected products the part stays in COO. It is also the number of products
	// that is assumed if the number is unknown.
	minCompressProducts = 100
	// compressRuns is the number of timed runs of each way. The two ways alternate, as in kernels/nvidia.
	compressRuns = 4
	// compressRunTime is the duration of a run, unless a 200th of the expected products takes less time.
	compressRunTime = time.Millisecond
)

// compressProducts returns the number of products that decide whether parts in COO are converted, and whether they are
// major products. none reports that the plan keeps COO.
func (p *Plan[V]) compressProducts() (products int, byMajor, none bool) {
	if !p.lay.COO() || p.transfer() != localByDevice {
		return 0, false, true
	}
	products, op := cmp.Or(p.opt.Expected.Products, minCompressProducts), NoTrans
	if p.opt.Expected.Transposed > products {
		products, op = p.opt.Expected.Transposed, Trans
	}
	return products, p.lay.ByMajor(bool(op)), products < minCompressProducts
}

// compress makes the pointers, unless they would take more memory than the part or than the device has left.
func (s *share[V]) compress(l *layout.Matrix[V]) error {
	n, nnz := int64(s.part.Majors())+1, s.part.NNZ()
	if nnz == 0 || 8*n > (8+mem.Size[V]())*nnz {
		return nil
	}
	begin := time.Now()
	ptr, err := kernels.NewArray[int64](s.dev, n)
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return nil
	}
	if err != nil {
		return err
	}
	s.ptr, s.ptrStart = ptr, s.part.StartIdx
	s.longest = layout.LongestRun(l.Major[s.part.StartIdx : s.part.EndIdx+1])
	err = s.stream.Launch(&kernels.COOPtr{Major: s.major, Ptr: s.ptr, First: int64(s.part.First())})
	err = errors.Join(err, s.stream.Sync())
	s.placing.cooPointers = time.Since(begin)
	s.cooChoice.Took = s.placing.cooPointers
	return err
}

// chooseCompressed times both ways on the device of s and keeps the arrays of the faster one.
func (p *Plan[V]) chooseCompressed(ctx context.Context, s *share[V]) error {
	products, byMajor, none := p.compressProducts()
	if none || s.ptr.Buf == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	begin := time.Now()
	err := p.measureBoth(s, byMajor, products)
	if errors.Is(err, kernels.ErrOutOfMemory) {
		s.arrays, s.cooChoice.Why = coordinates, "no memory to measure csr beside it"
		if err = s.stream.Sync(); errors.Is(err, kernels.ErrOutOfMemory) { // Sync repeats the error
			err = nil
		}
	}
	s.cooChoice.Took += time.Since(begin)
	return errors.Join(err, s.keepFaster())
}

// keepFaster frees the arrays that products do not use.
func (s *share[V]) keepFaster() (err error) {
	if s.arrays == compressed {
		s.cooChoice.Form = kernels.FormCSR
		err = s.major.Free()
		s.major = kernels.Array[int32]{}
	} else {
		s.cooChoice.Form = kernels.Form(sparse.FormatCOO)
		err = s.ptr.Free()
		s.ptr = kernels.Array[int64]{}
	}
	for _, b := range []kernels.Buffer{s.major.Buf, s.ptr.Buf, s.minor.Buf, s.local.Buf, s.val.Buf} {
		if b != nil {
			s.cooChoice.Bytes += b.Bytes()
		}
	}
	return err
}

// measureBoth times a product in COO and in CSR, and sets arrays and cooChoice.
func (p *Plan[V]) measureBoth(s *share[V], byMajor bool, products int) (err error) {
	nx, ny := p.lay.Majors, p.lay.Minors
	if byMajor {
		nx, ny = p.lay.Minors, s.part.OwnEnd-s.part.OwnFirst
		if s.halo != nil {
			nx = int(s.halo.N)
		}
	}
	var x, y kernels.Array[V]
	defer func() { err = errors.Join(err, x.Free(), y.Free()) }()
	err = inOrder(
		func() (err error) { x, err = kernels.NewArray[V](s.dev, int64(nx)); return err },
		func() (err error) { y, err = kernels.NewArray[V](s.dev, int64(ny)); return err },
		func() error { return s.stream.Launch(&kernels.Fill[V]{Y: x, Value: 1}) },
		func() error { return s.stream.Launch(&kernels.Fill[V]{Y: y}) },
		s.stream.Sync,
	)
	if err != nil {
		return err
	}
	q := &product[V]{byMajor: byMajor, alpha: 1}
	var ops [2]kernels.Operation
	s.arrays = coordinates
	ops[0] = s.operation(q, x, y, 0, s.carry)
	read := x
	if !byMajor { // with pointers it reads only the elements of its majors
		read = x.Sub(int64(s.part.First()), int64(s.part.End()))
	}
	s.arrays = compressed
	ops[1] = s.operation(q, read, y, 0, s.carry)
	s.arrays = coordinates
	if m, ok := s.dev.(kernels.Meter); ok {
		return s.countTraffic(m, ops)
	}
	times, err := s.timeBoth(ops, products)
	if err != nil {
		return err
	}
	if times[1] < times[0] {
		s.arrays = compressed
	}
	s.cooChoice.Why = fmt.Sprintf("measured: coo %v, csr %v", times[0].Round(100*time.Nanosecond), times[1].Round(100*time.Nanosecond))
	s.cooChoice.Tried = []kernels.PackTrial{
		{Form: kernels.Form(sparse.FormatCOO), Why: "entry by entry", Product: times[0]},
		{Form: kernels.FormCSR, Why: "pointers made from the majors", Product: times[1], Build: s.cooChoice.Took},
	}
	return nil
}

// countTraffic is measureBoth for a device that counts memory traffic and measures no time.
func (s *share[V]) countTraffic(m kernels.Meter, ops [2]kernels.Operation) (err error) {
	var bytes [2]int64
	for i, op := range ops {
		if bytes[i], err = m.Traffic(op); err != nil {
			return err
		}
	}
	if bytes[1] < bytes[0] {
		s.arrays = compressed
	}
	s.cooChoice.Why = fmt.Sprintf("counted: coo moves %d bytes, csr %d", bytes[0], bytes[1])
	return nil
}

// timeBoth returns the time of a product by each of ops, in the fastest of its runs.
func (s *share[V]) timeBoth(ops [2]kernels.Operation, products int) (best [2]time.Duration, err error) {
	calls := 1
	for _, op := range ops { // the first product also loads the kernels, which may take a second
		if _, err := s.kernel(op, 1); err != nil {
			return best, err
		}
	}
	for i := range 1 + compressRuns {
		for k, op := range ops {
			took, err := s.kernel(op, calls)
			if err != nil {
				return best, err
			}
			if i <= 1 || took < best[k] { // run 0 warms up and gives the length of a run; the first timed run replaces its time
				best[k] = took
			}
		}
		if i == 0 {
			calls = max(min(int(compressRunTime/max(best[0], best[1], 1)), products/200), 1)
		}
	}
	return best, nil
}
