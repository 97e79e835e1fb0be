package ellpack

import (
	"fmt"
	"math/bits"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// WarpHeight is the number of rows that a warp of a GPU takes.
const WarpHeight = 32

// DefaultSigma is the number of rows that FormatSELL sorts together.
const DefaultSigma = 1024

// Options says how a format is built. The zero value is right for GPUs.
type Options struct {
	// Height is the number of rows that go side by side, a power of two from 2 to
	// 64; 0 means WarpHeight.
	Height int
	// Sigma is the number of rows that FormatSELL sorts together, a multiple of
	// Height; 0 means DefaultSigma. 1 means that no row is moved.
	Sigma int
	// Sliced keeps ellr, pellr and pellr-warp warp by warp, each as wide as its longest
	// row, also where the array of all rows would fit. It takes less memory, and the
	// same steps.
	Sliced bool
	// MaxBytes is the most memory a format may take; 0 means Bound of the same rows.
	MaxBytes int64
	// Alloc gives zeroed memory for the arrays, at a multiple of 8 bytes at least;
	// nil means the Go heap.
	Alloc func(bytes int64) ([]byte, error)
	// Serial keeps all work in the goroutine that calls.
	Serial bool
}

// Bound is the most bytes that a format may take when nobody says: four times those of
// CSR, and 1 GiB, so that small matrices may be padded more.
func Bound(csrBytes int64) int64 { return saturate.Add(saturate.Mul(4, csrBytes), 1<<30) }

func (o Options) fill() (Options, error) {
	if o.Height == 0 {
		o.Height = WarpHeight
	}
	if o.Sigma == 0 {
		o.Sigma = DefaultSigma
	}
	switch {
	case o.Height < 2 || o.Height > 64 || o.Height&(o.Height-1) != 0:
		return o, sparse.Inputf("height", "%d rows side by side: it must be a power of two from 2 to 64", o.Height)
	case o.Sigma != 1 && (o.Sigma < 0 || o.Sigma%o.Height != 0):
		return o, sparse.Inputf("sigma", "windows of %d rows: it must be 1 or a multiple of %d", o.Sigma, o.Height)
	}
	return o, nil
}

// groups is the number of groups of a bisected warp: six for 32 rows.
func (o Options) groups() int { return bits.Len(uint(o.Height)) }

// take makes n zero elements.
func take[T mem.Elem](o *Options, n int64) ([]T, error) {
	if o.Alloc == nil {
		return make([]T, n), nil
	}
	b, err := o.Alloc(n * mem.Size[T]())
	if err != nil {
		return nil, err
	}
	s, ok := mem.Slice[T](b, n)
	if !ok {
		return nil, fmt.Errorf("ellpack: Alloc gave %d bytes for %d elements of %d", len(b), n, mem.Size[T]())
	}
	return s, nil
}
