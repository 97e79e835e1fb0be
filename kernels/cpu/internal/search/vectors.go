package search

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
)

// makeVectors makes x and y, and sets the elements of x that products read.
func (s *search[V]) makeVectors() (err error) {
	const apart = 64 // elements, so that x and y do not begin at the same place of a page
	rows := int64(s.OwnEnd - s.OwnFirst)
	n := int64(s.Minors) + apart + rows
	b, err := s.vectorMemory(n * mem.Size[V]())
	if err != nil {
		return err
	}
	all, _ := mem.Slice[V](b, n)
	s.x, s.y = all[:s.Minors], all[int64(s.Minors)+apart:]
	return s.fillX()
}

// vectorMemory returns memory that s.vec holds. It is kept memory if all rows are timed, and memory in small pages if
// only the rows of a sample are, which may read and write a few elements in many places.
func (s *search[V]) vectorMemory(bytes int64) ([]byte, error) {
	if s.fraction == 1 {
		s.vec = memory.Arena{memory.NewSlab(s.Mem, bytes, bytes)}
		return s.vec[0].Take(bytes)
	}
	s.vec = memory.NewArena(s.Mem, 1)
	return s.vec[0].TakeUntouched(bytes, true)
}

// fillX sets the elements of x that the rows of the sample read to 1.
func (s *search[V]) fillX() error {
	read := s.sample
	spans := make([][][2]int, len(read))
	err := s.Mem.Pool.Run(len(read), func(i int) {
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
		x, n := s.x[lo:hi], len(s.Bodies)
		done = hi
		if err := s.Mem.Pool.Run(n, func(i int) {
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
