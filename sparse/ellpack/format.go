package ellpack

import "github.com/msrep-go/msrep/sparse"

// The formats of this package.
const (
	FormatELL     sparse.Format = "ell"
	FormatELLR    sparse.Format = "ellr"
	FormatPELLR   sparse.Format = "pellr"
	FormatBiELL   sparse.Format = "biell"
	FormatJAD     sparse.Format = "jad"
	FormatBiJAD   sparse.Format = "bijad"
	FormatHYB     sparse.Format = "hyb"
	FormatHYBMean sparse.Format = "hyb-mean"
	FormatSELL    sparse.Format = "sell"

	// FormatPELLRWarp is pellr with one length per warp instead of one per row, which the
	// paper proposes to save memory.
	FormatPELLRWarp sparse.Format = "pellr-warp"
)

// Formats returns all formats of this package, in the order of the paper.
func Formats() []sparse.Format {
	return []sparse.Format{
		FormatELL, FormatELLR, FormatPELLR, FormatPELLRWarp, FormatBiELL, FormatJAD, FormatBiJAD, FormatHYB, FormatHYBMean, FormatSELL,
	}
}
