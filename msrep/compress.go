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

// COO on devices with memory of their own, strategy Optimized. The device makes pointers of the
// majors of its entries (kernels.COOPtr) and can then multiply its part as CSR, or as CSC where it
// is sorted by column: section 5.1 of the MSREP paper. The plan measures both ways and keeps the
// arrays of the faster one.

const (
	// compressFrom is the number of expected products from which both ways are measured, which
	// takes about 10 products and pays for the conversion. Fewer products keep COO. Where nobody
	// said how many there will be, they are as many.
	compressFrom = 100
	// Each way is timed in so many spells, which take turns, as do those of kernels/nvidia. A
	// spell is as long as this, but no longer than a two-hundredth of the expected products.
	compressSpells    = 4
	compressSpellTime = time.Millisecond
)

// compressFor is the products for which parts in COO are to be converted: how many, and whether
// they gather. none says that the plan keeps COO.
func (p *Plan[V]) compressFor() (products int, byMajor, none bool) {
	if p.lay.ptr != nil || p.opt.Variant.Strategy != Optimized {
		return 0, false, true
	}
	products, op := cmp.Or(p.opt.Expected.Products, compressFrom), NoTrans
	if p.opt.Expected.Transposed > products {
		products, op = p.opt.Expected.Transposed, Trans
	}
	return products, p.lay.byMajor(op), products < compressFrom
}

// compress has the devices make pointers of their parts in COO.
func (p *Plan[V]) compress() error {
	if _, _, none := p.compressFor(); none {
		return nil
	}
	return p.each(func(i int) error { return p.shares[i].compress(p.lay) })
}

// compress makes the pointers, unless they take more memory than the part or than there is.
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
	s.chosen.Took = time.Since(begin)
	return err
}

// longestRun is the length of the longest run of equal numbers in sorted ones. It looks at one in
// 2048 of them, and may miss runs shorter than 4096.
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

// chooseCompressed keeps the arrays by which each device multiplies its part in COO faster.
func (p *Plan[V]) chooseCompressed(ctx context.Context) error {
	products, byMajor, none := p.compressFor()
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
		err := s.race(&run[V]{plan: p, byMajor: byMajor, alpha: 1}, products)
		if errors.Is(err, kernels.ErrOutOfMemory) {
			s.asCSR, s.chosen.Why = false, "no memory to measure csr beside it"
			if err = s.stream.Sync(); errors.Is(err, kernels.ErrOutOfMemory) { // the same error once more
				err = nil
			}
		}
		s.chosen.Took += time.Since(begin)
		return errors.Join(err, s.keepFaster())
	})
}

// keepFaster frees the arrays that products do without.
func (s *share[V]) keepFaster() (err error) {
	if s.asCSR {
		s.chosen.Form = kernels.FormCSR
		err = s.major.Free()
		s.major = kernels.Array[int32]{}
	} else {
		s.chosen.Form = kernels.Form(sparse.FormatCOO)
		err = s.ptr.Free()
		s.ptr = kernels.Array[int64]{}
	}
	for _, b := range []kernels.Buffer{s.major.Buf, s.ptr.Buf, s.minor.Buf, s.val.Buf} {
		if b != nil {
			s.chosen.Bytes += b.Bytes()
		}
	}
	return err
}

// race measures a product both ways, and sets asCSR and chosen.
func (s *share[V]) race(r *run[V], products int) (err error) {
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
		ops[i] = r.op(s, &v, s.carry)
	}
	if m, ok := s.dev.(kernels.Meter); ok {
		return s.meter(m, ops)
	}
	times, err := s.spells(ops, products)
	if err != nil {
		return err
	}
	s.asCSR = times[1] < times[0]
	s.chosen.Why = fmt.Sprintf("measured: coo %v, csr %v", times[0].Round(100*time.Nanosecond), times[1].Round(100*time.Nanosecond))
	s.chosen.Tried = []kernels.PackTrial{
		{Form: kernels.Form(sparse.FormatCOO), Why: "entry by entry", Product: times[0]},
		{Form: kernels.FormCSR, Why: "pointers made of the majors", Product: times[1], Build: s.chosen.Took},
	}
	return nil
}

// meter is race on a device that counts.
func (s *share[V]) meter(m kernels.Meter, ops [2]kernels.Operation) (err error) {
	var bytes [2]int64
	for i, op := range ops {
		if bytes[i], err = m.Traffic(op); err != nil {
			return err
		}
	}
	s.asCSR = bytes[1] < bytes[0]
	s.chosen.Why = fmt.Sprintf("counted: coo moves %d bytes, csr %d", bytes[0], bytes[1])
	return nil
}

// spells is the time of a product by each of ops, in its fastest spell.
func (s *share[V]) spells(ops [2]kernels.Operation, products int) (best [2]time.Duration, err error) {
	calls := 1
	for _, op := range ops { // the first product also loads the kernels, which may take a second
		if _, err := s.kernel(op); err != nil {
			return best, err
		}
	}
	for i := range 1 + compressSpells {
		for k, op := range ops {
			took, err := s.spell(op, calls)
			if err != nil {
				return best, err
			}
			if i <= 1 || took < best[k] { // those before the first spell warm up, and tell how long one is
				best[k] = took
			}
		}
		if i == 0 {
			calls = max(min(int(compressSpellTime/max(best[0], best[1], 1)), products/200), 1)
		}
	}
	return best, nil
}

// spell is the time of each of some products, one behind the other.
func (s *share[V]) spell(op kernels.Operation, calls int) (time.Duration, error) {
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
