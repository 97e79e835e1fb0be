package leftlooking

import "github.com/msrep-go/msrep/sparse"

// DefaultTolerance is the tolerance of pivots that Options.Tolerance 0 stands for.
const DefaultTolerance = 0.1

// Options are the options of Analyze and Factor. The zero value is the default.
type Options struct {
	// Tolerance, at most 1, is how large the entry on the diagonal must be to become the
	// pivot: at least Tolerance times the largest entry of its column in the rows that have
	// no pivot. Otherwise the largest entry becomes the pivot. A low tolerance keeps the
	// order and its low fill, 1 is partial pivoting. 0 is DefaultTolerance.
	Tolerance float64

	// MaxBytes limits the memory for L and U. 0 is no limit but the available memory. The
	// fill depends on the pivots, so a factorisation may find only near its end that it
	// needs more.
	MaxBytes int64
}

func (o Options) normalized() (Options, error) {
	if o.Tolerance == 0 {
		o.Tolerance = DefaultTolerance
	}
	if !(o.Tolerance > 0 && o.Tolerance <= 1) {
		return o, sparse.Inputf("tolerance", "%v is not in (0, 1]", o.Tolerance)
	}
	if o.MaxBytes < 0 {
		return o, sparse.Inputf("memory limit", "%d bytes is negative", o.MaxBytes)
	}
	return o, nil
}
