package cpu

import (
	"errors"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/sparse"
)

// sumChunk is the number of elements that SumOn passes to merge.Sum at a time: few enough that merge.Sum stays on the
// calling goroutine.
const sumChunk = 1 << 13

// SumOn is merge.Sum, run on the workers of one device, with the same bits:
//
//	y = beta*y + sum of partials[i]
//
// Each partial vector is as long as y and does not overlap it. It fails as
// merge.Sum does.
func SumOn[V sparse.Value](w kernels.Workers, y []V, beta V, partials [][]V) error {
	for _, p := range partials {
		if len(p) != len(y) {
			return merge.Sum(y, beta, partials) // merge.Sum reports the error
		}
	}
	m := int64(len(y))
	n := int(min(int64(w.Info().Threads), m/sumChunk+1))
	errs := make([]error, n)
	err := w.Run(n, func(i int) {
		in := make([][]V, len(partials))
		end := par.Cut(m, n, i+1)
		for lo := par.Cut(m, n, i); lo < end; lo += sumChunk {
			hi := min(lo+sumChunk, end)
			for k, p := range partials {
				in[k] = p[lo:hi]
			}
			errs[i] = errors.Join(errs[i], merge.Sum(y[lo:hi], beta, in))
		}
	})
	return errors.Join(append(errs, err)...)
}
