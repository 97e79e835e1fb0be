package kernels

import (
	"fmt"
	"time"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Form names a layout in which a device stores the entries of a part, for example "csr", "ellr" or "slices".
type Form string

// FormAuto lets the device choose the form.
const FormAuto Form = "auto"

// FormCSR stores the part unchanged, as pointers, minors and values.
const FormCSR Form = "csr"

// Packing asks a device to pack a part of a CSR or CSC matrix in host memory: to bring it into another
// form. Part, Ptr, Idx and Val are as in Compressed.
type Packing[V sparse.Value] struct {
	Part   partition.Part
	Ptr    []int64 // Part.Majors()+1
	Idx    []int32 // Part.NNZ(): minors
	Val    []V     // Part.NNZ()
	Minors int     // number of minors: the length of x

	Form Form // FormAuto when ""
	// NoVendorLibrary restricts the choice of FormAuto to this project's kernels; the vendor's library is not used.
	NoVendorLibrary bool
	// Products is the expected number of products with the packed part. It bounds the time for choosing
	// and building a form: with 1 the part stays as it is. 0 means unknown.
	Products int
	// Vectors is the expected number of vectors in a product; 0 means 1.
	// Segments is how much of each value a product reads. The zero value means plain values.
	Segments Segments
	// Fixed asks for the sums of MajorProductFixed, to the last bit. The part must hold whole majors only.
	// FormAuto then chooses among the forms that add in that order. A named form that does not, or not for
	// this matrix, is a *sparse.InputError.
	Fixed bool
	// Previous is an earlier, freed packing of the same rows with other values, or nil. The device reuses what
	// it learned about their structure.
	Previous Packed
	// Stop is called from time to time; an error from it ends the packing. It may be nil.
	Stop func() error
	// InPlace says that the arrays stay unchanged until the packed part is freed. The packed part then uses
	// them without a copy where its form allows it.
	InPlace bool
}

// Check returns an error that wraps ErrArgument where the lengths of the arrays contradict Part. It does not
// read the elements of Ptr and Idx.
func (op *Packing[V]) Check() error {
	p := op.Part
	switch {
	case p.First() != 0 || p.Majors() < 0 || p.NNZ() < 0:
		return fmt.Errorf("%w: part %+v does not number its majors from 0", ErrArgument, p)
	case len(op.Ptr) != p.Majors()+1:
		return fmt.Errorf("%w: ptr has %d elements, it needs %d", ErrArgument, len(op.Ptr), p.Majors()+1)
	case int64(len(op.Idx)) != p.NNZ() || int64(len(op.Val)) != p.NNZ():
		return fmt.Errorf("%w: idx and val have %d and %d elements, they need %d", ErrArgument, len(op.Idx), len(op.Val), p.NNZ())
	case op.Minors < 0:
		return fmt.Errorf("%w: %d minors", ErrArgument, op.Minors)
	}
	return nil
}

// Segments says into how many segments of equal size each float64 value is cut, and how many of them a
// product reads (the CPMS paper; package sparse/cpms). The zero value means plain values. Count 2 or 4 with
// Read 0 is for MajorProductSegments with a part whose values are all 1: they are not stored, and
// Packing.Val is nil.
type Segments struct {
	Count int // 0, 2 or 4
	Read  int // 1 to Count
}

// Packer is a device that can store parts in other forms.
type Packer interface {
	// Pack packs a part; op is a *Packing, or a *TrianglePacking for a PackedTriangle. It returns an error that wraps ErrNotSupported for a form that
	// the device lacks, an error that wraps ErrOutOfMemory where memory is short, and a *sparse.InputError
	// where the matrix does not suit the named form.
	Pack(op Operation) (Packed, error)
}

// Packed is a part in a form that its device chose or the Packing named. MajorProductPacked multiplies by
// it.
type Packed interface {
	Info() PackInfo
	// Buffers returns the memory of the packed part, for counting.
	Buffers() []Buffer
	// Free frees the memory. More calls do nothing.
	Free() error
}

// PackInfo describes a packed part.
type PackInfo struct {
	Form    Form
	Why     string        // one line: the reason for this form
	Bytes   int64         // memory of the packed part
	Padding int64         // stored entries beyond those of the part
	Took    time.Duration // time for choosing and building the form
	Tried   []PackTrial   // the candidates in order; empty for a named form
	// Doubt is the estimated probability that another form that was tried is faster by more than 5 %. It
	// follows from the variance of the times and from how long other processes had the CPUs. 0 where the
	// form was not chosen by time.
	Doubt float64
}

// PackTrial is a form that a device considered for a part.
type PackTrial struct {
	Form    Form
	Why     string        // the reason for considering it
	Product time.Duration // time of a product, 0 when not timed
	Build   time.Duration // time for building the form
	Bytes   int64         // memory of the packed part
	Skipped string        // why it was not timed, "" when it was
}

// MajorProductPacked is MajorProduct for a packed part, with the same formula and shapes.
type MajorProductPacked[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y, Carry Array[V]
}

// HostProduct is a product of a packed part and vectors in host memory. Only devices that are a HostMapper
// support it. The product is done when Launch returns. It is one of
//
//   - MajorProductPacked, for a part that owns its first major: X has one element for each minor, Y one for
//     each major;
//   - MinorProductPacked, where Minor is set: X has one element for each major, Y one for each minor. Where
//     the form does not support it, or MinorProduct of the unpacked part is faster, the device runs
//     MinorProduct instead;
//   - MajorProductManyPacked, where Cols is set: the rows of X and Y have Cols elements. The part must
//     support it (see ManyMultiplier).
type HostProduct[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y        []V
	Cols        int // number of vectors; 0 means one, with X and Y as plain vectors
	StrideX     int // elements between the starts of two rows of X
	StrideY     int // elements between the starts of two rows of Y
	Minor       bool
	NoWorkers   bool // run in the calling goroutine, without the workers, where the device can
}

// Name returns the name of MajorProductPacked, MinorProductPacked or MajorProductManyPacked.
func (op *HostProduct[V]) Name() string {
	switch {
	case op.Minor:
		return "minor-product-packed"
	case op.Cols > 0:
		return "major-product-many-packed"
	}
	return "major-product-packed"
}

// Name returns the name of the operation.
func (*Packing[V]) Name() string { return "pack" }

// Name returns the name of the operation.
func (*MajorProductPacked[V]) Name() string { return "major-product-packed" }
