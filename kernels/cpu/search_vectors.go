package cpu

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// makeVectors makes x and y, and sets the elements of x that products read.
func (s *search[V]) makeVectors() (err error) {
	const apart = 64 // elements, so that x and y do not begin at the same place of a page
	rows := int64(s.part.OwnEnd - s.part.OwnFirst)
	n := int64(s.minors) + apart + rows
	b, err := s.vectorMemory(n * mem.Size[V]())
	if err != nil {
		return err
	}
	all, _ := mem.Slice[V](b, n)
	s.x, s.y = all[:s.minors], all[int64(s.minors)+apart:]
	return s.fillX()
}

// vectorMemory returns memory that s.vec holds. It is kept memory if all rows are timed, and memory in small pages if
// only the rows of a sample are, which may read and write a few elements in many places.
func (s *search[V]) vectorMemory(bytes int64) ([]byte, error) {
	if s.fraction == 1 {
		s.vec = arena{newSlab(s.dev, bytes, bytes)}
		return s.vec[0].take(bytes)
	}
	buf, err := s.dev.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	s.vec = arena{{dev: s.dev, rest: []kernels.Buffer{buf}}}
	b, err := s.dev.View(buf)
	if err == nil && bytes >= mem.MinMapped {
		mem.AdviseSmall(b)
	}
	return b, err
}

// fillX sets the elements of x that the rows of the sample read to 1.
func (s *search[V]) fillX() error {
	read := s.sample
	spans := make([][][2]int, len(read))
	err := s.dev.pool.run(len(read), func(i int) {
		for _, st := range read[i] {
			if len(st.rows.Idx) > 0 {
				lo, hi := form.MinMax(simd.Default(), st.rows.Idx)
				spans[i] = append(spans[i], [2]int{max(int(lo), 0), min(int(hi)+1, len(s.x))})
			}
		}
	})
	if err != nil {
		return err
	}
	all := slices.Concat(spans...)
	slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
	done := 0
	for _, span := range all {
		lo, hi := max(span[0], done), span[1]
		if lo >= hi {
			continue
		}
		x, n := s.x[lo:hi], len(s.pieces)
		done = hi
		if err := s.dev.pool.run(n, func(i int) {
			x := x[par.Cut(int64(len(x)), n, i):par.Cut(int64(len(x)), n, i+1)]
			for k := range x {
				x[k] = 1
			}
		}); err != nil {
			return err
		}
	}
	return nil
}
