package kernels

import "fmt"

// LocalPtr computes the pointers of a part from those of the whole matrix:
//
//	Dst[j] = min(max(Src[j], Start), End) - Start        for every j
//
// Src holds the pointers of the majors that the part covers. [Start, End) is the range of its entries. Dst
// and Src have the same length and do not overlap.
type LocalPtr struct {
	Src, Dst   Array[int64]
	Start, End int64
}

// Check returns an error that wraps ErrArgument where the arguments contradict each other.
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

// Name returns the name of the operation.
func (*LocalPtr) Name() string { return "local-ptr" }
