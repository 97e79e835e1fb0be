package kernels

import "fmt"

// LocalPtr makes pointers of a whole matrix those of a part, for every j:
//
//	Dst[j] = min(max(Src[j], Start), End) - Start
//
// Src is of the majors that the part covers, and [Start, End) its entries. Dst has as many
// elements, all of them others.
type LocalPtr struct {
	Src, Dst   Array[int64]
	Start, End int64
}

// Check says what of the arguments does not fit together: an error that wraps ErrArgument.
func (op *LocalPtr) Check() error {
	src, dst := op.Src, op.Dst
	switch {
	case src.Len != dst.Len:
		return fmt.Errorf("%w: dst has %d elements, it needs %d", ErrArgument, dst.Len, src.Len)
	case op.Start > op.End:
		return fmt.Errorf("%w: entries [%d, %d)", ErrArgument, op.Start, op.End)
	case src.Len > 0 && src.Buf == dst.Buf && src.Off < dst.Off+8*dst.Len && dst.Off < src.Off+8*src.Len:
		return fmt.Errorf("%w: dst overlaps src", ErrArgument)
	}
	return nil
}

// Name names the operation.
func (*LocalPtr) Name() string { return "local-ptr" }
