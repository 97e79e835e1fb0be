package cpu

import (
	"errors"

	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/inspect"
)

// tryRows builds a candidate in memory that the search has, or in new memory.
func (s *search[V]) tryRows(c inspect.Candidate[V], rows [][]form.Rows[V]) (trial[V], error) {
	t, err := s.build(c, rows, s.arena())
	if err != nil {
		return trial[V]{}, errors.Join(err, s.drop(t))
	}
	return t, nil
}

// arena is one that is empty.
func (s *search[V]) arena() arena {
	if n := len(s.spare); n > 0 {
		a := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return a
	}
	return s.newArena()
}

// drop lets go of a trial, and keeps its memory for the next.
func (s *search[V]) drop(t trial[V]) error {
	if t.mem != nil {
		s.spare = append(s.spare, t.mem)
	}
	return t.mem.reset()
}

// dropSpare gives back the memory of what lost.
func (s *search[V]) dropSpare() error {
	var errs []error
	for _, a := range s.spare {
		errs = append(errs, a.free())
	}
	s.spare = nil
	return errors.Join(errs...)
}
