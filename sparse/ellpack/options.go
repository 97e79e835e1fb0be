package ellpack

import (
	"fmt"
	"math/bits"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// WarpHeight is the number of rows of a GPU warp.
const WarpHeight = 32

// DefaultSigma is the number of rows that FormatSELL sorts together.
const DefaultSigma = 1024

// Options says how a format is built. The zero value suits GPUs.
type Options struct {
	// Height is the number of rows that are processed in parallel, a power of two from 2
	// to 64; 0 means WarpHeight.
	Height int
	// Sigma is the number of rows that FormatSELL sorts together, a multiple of Height; 0
	// means DefaultSigma. 1 keeps the order of the rows.
	Sigma int
	// Sliced stores ellr, pellr and pellr-warp with the width of the longest row of each
	// warp, even if one width for all rows would fit. This takes less memory and the same
	// steps.
	Sliced bool
	// MaxBytes is the largest size of a format; 0 means Bound of the size in CSR.
	MaxBytes int64
	// Alloc allocates zeroed memory for the arrays, aligned to at least 8 bytes; nil
	// means the Go heap.
	Alloc func(bytes int64) ([]byte, error)
	// Serial keeps all work in the calling goroutine.
	Serial bool
}

// Bound returns the default of Options.MaxBytes: four times the size in CSR plus 1 GiB,
// so small matrices may be padded more.
func Bound(csrBytes int64) int64 { return saturate.Add(saturate.Mul(4, csrBytes), 1<<30) }

func (o Options) withDefaults() (Options, error) {
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

// allocate returns n zero elements.
func allocate[T mem.Elem](o *Options, n int64) ([]T, error) {
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
