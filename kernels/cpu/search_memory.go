package cpu

import (
	"errors"

	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/inspect"
)

// tryRows builds a candidate on rows that have a share of all entries.
func (s *search[V]) tryRows(c inspect.Candidate[V], rows [][]form.Rows[V], share float64) (trial[V], error) {
	t, err := s.build(c, rows, s.newArena(share))
	if err != nil {
		return trial[V]{}, errors.Join(err, t.mem.free())
	}
	return t, nil
}
