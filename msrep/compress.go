package msrep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
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
	if p.lay.ptr != nil || p.opt.Variant.Strategy != Optimized {
		return 0, false, true
	}
	products, op := cmp.Or(p.opt.Expected.Products, minCompressProducts), NoTrans
	if p.opt.Expected.Transposed > products {
		products, op = p.opt.Expected.Transposed, Trans
	}
	return products, p.lay.byMajor(op), products < minCompressProducts
}

// compress makes each device compute pointers for its part in COO.
func (p *Plan[V]) compress() error {
	if _, _, none := p.compressProducts(); none {
		return nil
	}
	return p.each(func(i int) error { return p.shares[i].compress(p.lay) })
}

// compress makes the pointers, unless they would take more memory than the part or than the device has left.
func (s *share[V]) compress(l layout[V]) error {
	n, nnz := int64(s.part.Majors())+1, s.part.NNZ()
	if s.inPlace != nil || nnz == 0 || 8*n > (8+mem.Size[V]())*nnz {
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
	s.ptr = ptr
	s.longest = longestRun(l.major[s.part.StartIdx : s.part.EndIdx+1])
	err = s.stream.Launch(&kernels.COOPtr{Major: s.major, Ptr: s.ptr, First: int64(s.part.First())})
	err = errors.Join(err, s.stream.Sync())
	s.cooInfo.Took = time.Since(begin)
	return err
}

// longestRun returns the length of the longest run of equal numbers. It inspects every 2048th number, and may miss runs
// that are shorter than 4096.
func longestRun(sorted []int32) (longest int64) {
	const step = 1 << 11
	for k := 0; k+step < len(sorted); {
		v := sorted[k]
		if sorted[k+step] != v {
			k += step
			continue
		}
		first := sort.Search(k, func(i int) bool { return sorted[i] >= v })
		end := k + sort.Search(len(sorted)-k, func(i int) bool { return sorted[k+i] > v })
		longest, k = max(longest, int64(end-first)), end
	}
	return longest
}

// chooseCompressed times both ways on each device and keeps the arrays of the faster one.
func (p *Plan[V]) chooseCompressed(ctx context.Context) error {
	products, byMajor, none := p.compressProducts()
	if none {
		return nil
	}
	return p.each(func(i int) error {
		s := p.shares[i]
		if s.ptr.Buf == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := time.Now()
		err := s.measureBoth(&run[V]{plan: p, byMajor: byMajor, alpha: 1}, products)
		if errors.Is(err, kernels.ErrOutOfMemory) {
			s.asCSR, s.cooInfo.Why = false, "no memory to measure csr beside it"
			if err = s.stream.Sync(); errors.Is(err, kernels.ErrOutOfMemory) { // Sync repeats the error
				err = nil
			}
		}
		s.cooInfo.Took += time.Since(begin)
		return errors.Join(err, s.keepFaster())
	})
}

// keepFaster frees the arrays that products do not use.
func (s *share[V]) keepFaster() (err error) {
	if s.asCSR {
		s.cooInfo.Form = kernels.FormCSR
		err = s.major.Free()
		s.major = kernels.Array[int32]{}
	} else {
		s.cooInfo.Form = kernels.Form(sparse.FormatCOO)
		err = s.ptr.Free()
		s.ptr = kernels.Array[int64]{}
	}
	for _, b := range []kernels.Buffer{s.major.Buf, s.ptr.Buf, s.minor.Buf, s.val.Buf} {
		if b != nil {
			s.cooInfo.Bytes += b.Bytes()
		}
	}
	return err
}

// measureBoth times a product in COO and in CSR, and sets asCSR and cooInfo.
func (s *share[V]) measureBoth(r *run[V], products int) (err error) {
	nx, ny := r.plan.lay.majors, r.plan.lay.minors
	if r.byMajor {
		nx, ny = r.plan.lay.minors, s.part.OwnEnd-s.part.OwnFirst
	}
	var v vectors[V]
	defer func() { err = errors.Join(err, v.x.Free(), v.y.Free()) }()
	if v.x, err = kernels.NewArray[V](s.dev, int64(nx)); err != nil {
		return err
	}
	if v.y, err = kernels.NewArray[V](s.dev, int64(ny)); err != nil {
		return err
	}
	if err := errors.Join(s.stream.Launch(&kernels.Fill[V]{Y: v.x, Value: 1}), s.stream.Launch(&kernels.Fill[V]{Y: v.y}), s.stream.Sync()); err != nil {
		return err
	}
	var ops [2]kernels.Operation // in COO, and in CSR
	for i := range ops {
		s.asCSR = i == 1
		ops[i] = r.operation(s, &v, s.carry)
	}
	if m, ok := s.dev.(kernels.Meter); ok {
		return s.countTraffic(m, ops)
	}
	times, err := s.timeBoth(ops, products)
	if err != nil {
		return err
	}
	s.asCSR = times[1] < times[0]
	s.cooInfo.Why = fmt.Sprintf("measured: coo %v, csr %v", times[0].Round(100*time.Nanosecond), times[1].Round(100*time.Nanosecond))
	s.cooInfo.Tried = []kernels.PackTrial{
		{Form: kernels.Form(sparse.FormatCOO), Why: "entry by entry", Product: times[0]},
		{Form: kernels.FormCSR, Why: "pointers made from the majors", Product: times[1], Build: s.cooInfo.Took},
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
	s.asCSR = bytes[1] < bytes[0]
	s.cooInfo.Why = fmt.Sprintf("counted: coo moves %d bytes, csr %d", bytes[0], bytes[1])
	return nil
}

// timeBoth returns the time of a product by each of ops, in the fastest of its runs.
func (s *share[V]) timeBoth(ops [2]kernels.Operation, products int) (best [2]time.Duration, err error) {
	calls := 1
	for _, op := range ops { // the first product also loads the kernels, which may take a second
		if _, err := s.kernel(op); err != nil {
			return best, err
		}
	}
	for i := range 1 + compressRuns {
		for k, op := range ops {
			took, err := s.timeProducts(op, calls)
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

// timeProducts returns the average time of calls products in sequence.
func (s *share[V]) timeProducts(op kernels.Operation, calls int) (time.Duration, error) {
	err := s.stream.Record(s.start)
	for range calls {
		if err == nil {
			err = s.stream.Launch(op)
		}
	}
	if err := errors.Join(err, s.stream.Record(s.stop), s.stream.Sync()); err != nil {
		return 0, err
	}
	took, err := s.stop.Since(s.start)
	return took / time.Duration(calls), err
}
