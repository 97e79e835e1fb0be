package kernels

import "fmt"

// COOPtr makes the pointers of a part in CSR or CSC from the majors of its entries, which
// must rise, for every j:
//
//	Ptr[j] = number of k with Major[k] < First+j
//
// First is the first major that the part covers. Ptr has an element more than the part has
// majors.
type COOPtr struct {
	Major Array[int32]
	Ptr   Array[int64]
	First int64
}

// Check says what of the arguments does not fit together: an error that wraps ErrArgument.
// The elements of Major are not looked at.
func (op *COOPtr) Check() error {
	switch {
	case op.Ptr.Len < 1:
		return fmt.Errorf("%w: ptr has no elements, it needs one more than there are majors", ErrArgument)
	case op.First < 0:
		return fmt.Errorf("%w: the first major is %d", ErrArgument, op.First)
	}
	return nil
}

// Name names the operation.
func (*COOPtr) Name() string { return "coo-ptr" }
