package ellpack

import (
	"math"
	"sync"

	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// Shape is the size and the cost of rows in a format, known before the format is built.
// Numbers beyond 2^63-1 are set to 2^63-1.
type Shape struct {
	Format sparse.Format
	Rows   int64
	NNZ    int64
	Slots  int64 // slots for an entry, each with a value and a column
	Meta   int64 // bytes of lengths, starts, permutations and row indices of coordinates

	// Steps is N_iter, Equation (1) of the PELLR paper: the sum of the steps of all
	// warps. A warp takes as many steps as its longest row has entries (in ell, the
	// longest of all rows). The coordinates of a hyb take one step per Height entries.
	Steps int64
	// Work is N_p, Equation (2): 2b-1 operations for a row of b entries, 0 for an empty
	// row. In ell, and in the ell part of a hyb, padding counts as entries.
	Work int64

	// Sliced is set if ellr, pellr and pellr-warp use the width of the longest row of
	// each warp, because one width for all rows would exceed MaxBytes or because
	// Options.Sliced is set.
	Sliced bool
}

// Padding returns the number of slots without an entry.
func (s Shape) Padding() int64 {
	if s.Slots == math.MaxInt64 {
		return s.Slots
	}
	return s.Slots - s.NNZ
}

// Bytes returns the size of the arrays for values of valueBytes bytes.
func (s Shape) Bytes(valueBytes int64) int64 {
	return saturate.Add(saturate.Mul(s.Slots, valueBytes+4), s.Meta)
}

// Lengths holds the lengths of rows, from which all shapes are computed.
type Lengths struct {
	opt     Options
	of      []int32
	nnz     int64
	longest int64
	work    int64
	csr     int64 // bytes of CSR without values
	sorted  func() []int32
}

// Measure computes the lengths of rows; ptr, first and end are Ptr, First and End of Rows.
// It fails with a *sparse.InputError if the options or the pointers are invalid, or if
// there are more than 2^31-1 rows, or a row has more than 2^31-1 entries.
func Measure(ptr []int64, first, end int64, o Options) (*Lengths, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Lengths{opt: o, nnz: end - first, csr: 8*int64(len(ptr)) + 4*(end-first)}
	if l.of, err = rowLengths(ptr, first, end, o.Serial); err != nil {
		return nil, err
	}
	held := int64(0)
	for _, n := range l.of {
		held += int64(n)
		l.longest = max(l.longest, int64(n))
		l.work += max(2*int64(n)-1, 0)
	}
	if held != l.nnz {
		return nil, sparse.Inputf("matrix", "its rows hold %d of %d entries", held, l.nnz)
	}
	l.sorted = sync.OnceValue(func() []int32 { return sortByLength(l.of, max(l.rows(), 1), o.Serial) })
	return l, nil
}

func (l *Lengths) rows() int64 { return int64(len(l.of)) }

// warps returns N_w, the number of warps.
func (l *Lengths) warps() int64 { return ceil(l.rows(), int64(l.opt.Height)) }

// at returns the length of the row at position i of an order, or 0 beyond the last row. A
// nil perm is the order of the matrix.
func (l *Lengths) at(perm []int32, i int64) int64 {
	switch {
	case i >= l.rows():
		return 0
	case perm == nil:
		return int64(l.of[i])
	}
	return int64(l.of[perm[i]])
}

// order returns the order of the rows in a format; nil is the order of the matrix.
func (l *Lengths) order(f sparse.Format) []int32 {
	window := int64(1)
	switch f {
	case FormatPELLR, FormatPELLRWarp, FormatJAD, FormatBiJAD:
		return l.sorted()
	case FormatBiELL:
		window = int64(l.opt.Height)
	case FormatSELL:
		window = int64(l.opt.Sigma)
	}
	if window == 1 {
		return nil
	}
	return sortByLength(l.of, window, l.opt.Serial)
}

// warpLongest returns the length of the longest row of a warp.
func (l *Lengths) warpLongest(perm []int32, warp int64) int64 {
	h := int64(l.opt.Height)
	longest := int64(0)
	for i := warp * h; i < min(warp*h+h, l.rows()); i++ {
		longest = max(longest, l.at(perm, i))
	}
	return longest
}

// hybWidth returns the number of entries of each row that a hyb stores as ell. For hyb it
// is the largest K such that a third of the rows have at least K entries; for hyb-mean it
// is the mean length, rounded to nearest.
func (l *Lengths) hybWidth(f sparse.Format) int64 {
	switch {
	case l.rows() == 0:
		return 0
	case f == FormatHYBMean:
		return (l.nnz + l.rows()/2) / l.rows()
	}
	return l.at(l.sorted(), ceil(l.rows(), 3)-1)
}

// Shape returns the Shape of these rows in a format, for values of valueBytes bytes. It
// returns false if f is not one of Formats.
func (l *Lengths) Shape(f sparse.Format, valueBytes int64) (Shape, bool) {
	s, _, ok := l.shape(f, valueBytes)
	return s, ok
}

// shape returns Shape and the order of the rows.
func (l *Lengths) shape(f sparse.Format, valueBytes int64) (Shape, []int32, bool) {
	s := Shape{Format: f, Rows: l.rows(), NNZ: l.nnz, Work: l.work}
	perm := l.order(f)
	h, warps, stride := int64(l.opt.Height), l.warps(), roundUp(l.rows(), int64(l.opt.Height))
	switch f {
	case FormatELL:
		s.Slots, s.Steps = saturate.Mul(stride, l.longest), saturate.Mul(warps, l.longest)
		s.Work = saturate.Mul(s.Rows, max(2*l.longest-1, 0))
	case FormatELLR, FormatPELLR, FormatPELLRWarp:
		for w := range warps {
			s.Steps += l.warpLongest(perm, w)
		}
		s.Slots = saturate.Mul(stride, l.longest)
		s.Meta = 4 * (s.Rows + int64(len(perm)))
		if f == FormatPELLRWarp {
			s.Meta = 4 * (warps + int64(len(perm)))
		}
		if l.opt.Sliced || s.Bytes(valueBytes) > l.bound(valueBytes) {
			s.Sliced, s.Slots = true, h*s.Steps
			s.Meta += 8 * (warps + 1)
		}
	case FormatBiELL, FormatBiJAD:
		for w := range warps {
			for g := range l.opt.groups() {
				_, _, steps := l.group(perm, w, g)
				s.Steps += steps
			}
		}
		s.Slots = h * s.Steps
		s.Meta = 8*(warps*int64(l.opt.groups())+1) + 4*s.Rows
	case FormatJAD:
		for w := range warps {
			s.Steps += l.at(perm, w*h)
		}
		s.Slots, s.Meta = s.NNZ, 8*(l.longest+1)+4*s.Rows
	case FormatHYB, FormatHYBMean:
		width := l.hybWidth(f)
		rest := l.beyond(width)
		s.Slots = saturate.Add(saturate.Mul(stride, width), rest)
		s.Meta = 4 * rest
		s.Steps = saturate.Add(saturate.Mul(warps, width), ceil(rest, h))
		s.Work = saturate.Add(saturate.Mul(s.Rows, max(2*width-1, 0)), 2*rest)
	case FormatSELL:
		for w := range warps {
			s.Steps += l.warpLongest(perm, w)
		}
		s.Slots, s.Meta = h*s.Steps, 8*(warps+1)+4*int64(len(perm))
	default:
		return Shape{}, nil, false
	}
	return s, perm, true
}

// beyond returns the number of entries after the first width entries of each row.
func (l *Lengths) beyond(width int64) (rest int64) {
	for _, n := range l.of {
		rest += max(int64(n)-width, 0)
	}
	return rest
}

// bound returns the largest allowed size of a format in bytes.
func (l *Lengths) bound(valueBytes int64) int64 {
	if l.opt.MaxBytes > 0 {
		return l.opt.MaxBytes
	}
	return Bound(l.csr + l.nnz*valueBytes)
}

// check returns an error if the format would exceed the allowed size.
func (l *Lengths) check(s Shape, valueBytes int64) error {
	need, have := s.Bytes(valueBytes), l.bound(valueBytes)
	if need <= have {
		return nil
	}
	return sparse.Inputf("format", "%s takes %d bytes, of which padding is %d places for %d entries, because the longest of %d rows has %d: more than the %d bytes it may take; use sell, jad or csr",
		s.Format, need, s.Padding(), s.NNZ, s.Rows, l.longest, have)
}
