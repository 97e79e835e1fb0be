package factor

import (
	"github.com/msrep-go/msrep/solver/internal/leftlooking"
	"github.com/msrep-go/msrep/solver/internal/multifrontal"
)

// Info describes complete factors.
type Info struct {
	Kind     LUKind  // Multifrontal or LeftLooking
	NNZ      int64   // entries of the factors; a diagonal of ones does not count
	Work     float64 // multiplications and additions of the factorisation
	Bytes    int64   // memory that the factors take
	Replaced int     // pivots that were tiny and were replaced
	// Growth is the largest magnitude in L for Multifrontal, and the largest growth of a column of U for LeftLooking. Far
	// above 1, solutions need refinement, which Apply does.
	Growth float64
}

func frontInfo(s *multifrontal.Analysis) Info {
	return Info{Kind: Multifrontal, NNZ: s.Entries(), Work: s.Work(), Bytes: 8 * s.Stored()}
}

func leftInfo(c leftlooking.Counts, n int) Info {
	return Info{Kind: LeftLooking, NNZ: c.L + c.U + c.F - int64(n), Work: 2 * c.Work, Bytes: c.Bytes}
}

// accept asks f, unless it is nil.
func accept(f func(Info) error, info Info) error {
	if f == nil {
		return nil
	}
	return f(info)
}
