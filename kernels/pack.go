package kernels

import (
	"fmt"
	"time"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Form names a way to keep the entries of a part in memory: "csr", "ellr", "slices".
type Form string

// FormAuto lets the device choose.
const FormAuto Form = "auto"

// FormCSR is the part as it is.
const FormCSR Form = "csr"

// Packing asks a device to bring a part of a compressed matrix, which lies in host
// memory, into another form. Part, Ptr, Idx and Val are as in Compressed.
type Packing[V sparse.Value] struct {
	Part   partition.Part
	Ptr    []int64 // Part.Majors()+1
	Idx    []int32 // Part.NNZ(): minors
	Val    []V     // Part.NNZ()
	Minors int     // elements of x

	Form Form // FormAuto when ""
	// Own keeps the choice of FormAuto to this project's kernels: no library of the
	// maker of the device.
	Own bool
	// Products is how many products the packed part is expected to make. It bounds the
	// time that looking for a form and making it may take: with 1 the part stays as it
	// is. 0 means that nobody knows.
	Products int
	// Vectors is how many vectors a product is expected to have; 0 means 1.
	Vectors int
	// Count is how much of each value a product reads. The zero value is all.
	Segments Segments
	// Fixed asks for the sums of MajorProductFixed, to the last bit. The part must hold whole
	// majors only. With FormAuto the device chooses among the forms that sum so; a form
	// that is named and does not, or not on this matrix, is a *sparse.InputError.
	Fixed bool
	// After is what was packed of the same rows before, with other values, and is freed:
	// what took time to find out about their structure still holds. nil for none.
	After Packed
	// Stop is asked now and then; an error ends the packing. It may be nil.
	Stop func() error
	// InPlace says that the arrays stay as they are until the packed part is freed,
	// so that it need not copy what it uses as it is.
	InPlace bool
}

// Check says what of the arrays does not fit together: an error that wraps ErrArgument.
// The elements of Ptr and Idx are not looked at.
func (op *Packing[V]) Check() error {
	p := op.Part
	switch {
	case p.First() != 0 || p.Majors() < 0 || p.NNZ() < 0:
		return fmt.Errorf("%w: part %+v does not count from its first row", ErrArgument, p)
	case len(op.Ptr) != p.Majors()+1:
		return fmt.Errorf("%w: ptr has %d elements, it needs %d", ErrArgument, len(op.Ptr), p.Majors()+1)
	case int64(len(op.Idx)) != p.NNZ() || int64(len(op.Val)) != p.NNZ():
		return fmt.Errorf("%w: idx and val have %d and %d elements, they need %d", ErrArgument, len(op.Idx), len(op.Val), p.NNZ())
	case op.Minors < 0:
		return fmt.Errorf("%w: %d minors", ErrArgument, op.Minors)
	}
	return nil
}

// Count is how much of a float64 value is kept within reach of a product (the
// CPMS paper): the value in Segments segments of equal size, of which Read are
// read. Segments 0 means plain values. Read 0 of 2 or 4 is for a part whose values are
// all 1 and not stored, for MajorProductSegments: Packing.Val is nil then.
type Segments struct {
	Count int // 0, 2 or 4
	Read  int // 1 ... Segments
}

// Packer is a device that can keep parts in forms of its own.
type Packer interface {
	// Pack takes a *Packing. It fails with an error that wraps ErrNotSupported for a
	// form that the device lacks, with ErrOutOfMemory when the form does not fit, and
	// with a *sparse.InputError when the matrix does not suit the form that was named.
	Pack(op Operation) (Packed, error)
}

// Packed is a part in a form of its device. MajorProductPacked multiplies by it.
type Packed interface {
	Info() PackInfo
	// Buffers is the memory that it holds, for counting.
	Buffers() []Buffer
	// Free releases it, once; more calls do nothing.
	Free() error
}

// PackInfo describes a packed part.
type PackInfo struct {
	Form      Form
	Symmetric bool          // half of its entries are stored: the transposed product is the same one
	Why       string        // one line: why this form
	Bytes     int64         // memory that it holds
	Padding   int64         // entries stored beyond those of the part
	Took      time.Duration // looking and building
	Tried     []PackTrial   // what was considered, in order; nothing for a form that was named
	// Doubt is how likely it is, by the scatter of the times and by how long others had the CPUs meanwhile, that
	// another form that was tried is faster by more than a twentieth; 0 where times did not decide.
	Doubt float64
}

// PackTrial is a form that a device considered for a part.
type PackTrial struct {
	Form    Form
	Why     string        // what spoke for it
	Product time.Duration // a product, 0 when it was not timed
	Build   time.Duration // making it
	Bytes   int64         // memory that it held
	Skipped string        // why it was not timed, "" when it was
}

// MajorProductPacked is Gather for a packed part: the same formula, the same vectors.
type MajorProductPacked[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y, Carry Array[V]
}

// HostProduct is a product by a packed part with vectors in host memory. Only a HostMapper has
// it, and it is done when Launch returns. It is
//
//   - MajorProductPacked, for a part that begins with a major: X has an element for each minor, Y one
//     for each major;
//   - MinorProductPacked where Scatters is set: X has an element for each major, Y one for each minor.
//     Where the form of the part does not scatter, or not as fast, it is Scatter with the part as
//     it is;
//   - MajorProductManyPacked where Cols is set, for a part that multiplies several vectors at once: X
//     and Y then have rows of so many elements.
type HostProduct[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y        []V
	Cols        int // vectors, whose rows begin StrideX and StrideY elements apart; 0 means one
	StrideX     int
	StrideY     int
	Minor       bool
	Alone       bool // the goroutine that launches it makes it by itself where it can
}

// Name names the operation, which is the same as that of MajorProductPacked, MinorProductPacked or MajorProductManyPacked.
func (op *HostProduct[V]) Name() string {
	switch {
	case op.Minor:
		return "minor-product-packed"
	case op.Cols > 0:
		return "major-product-many-packed"
	}
	return "major-product-packed"
}

// Name names the operation.
func (*Packing[V]) Name() string { return "pack" }

// Name names the operation.
func (*MajorProductPacked[V]) Name() string { return "major-product-packed" }
