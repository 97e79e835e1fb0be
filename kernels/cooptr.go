package kernels

import "fmt"

// COOPtr computes the pointers of a part in CSR or CSC from the majors of its entries:
//
//	Ptr[j] = number of k with Major[k] < First+j        for every j
//
// Major must be sorted in ascending order. First is the first major of the part. Ptr has one element
// more than the part has majors.
type COOPtr struct {
	Major Array[int32]
	Ptr   Array[int64]
	First int64
}

// Check returns an error that wraps ErrArgument where the arguments contradict each other. It does not read
// the elements of Major.
func (op *COOPtr) Check() error {
	switch {
	case op.Ptr.Len < 1:
		return fmt.Errorf("%w: ptr has no elements; it needs one more than the part has majors", ErrArgument)
	case op.First < 0:
		return fmt.Errorf("%w: the first major is %d", ErrArgument, op.First)
	}
	return nil
}

// Name returns the name of the operation.
func (*COOPtr) Name() string { return "coo-ptr" }
