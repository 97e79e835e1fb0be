package factor

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

var nan = math.NaN()

func memoryError(need, have int64) error {
	return &sparse.InputError{Subject: "matrix", Err: &MemoryError{need, have}}
}

// factorsFit returns an error if need bytes exceed the limit most > 0, or do not fit in memory.
func factorsFit(need, most int64) error {
	if most > 0 && need > most {
		return memoryError(need, most)
	}
	if have, ok := mem.Fits(need); !ok {
		return memoryError(need, have)
	}
	return nil
}
