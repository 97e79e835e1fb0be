package partition

// Within splits a part of a compressed matrix again into n parts, for the workers of one
// device. It is SplitWeighted with RuleMergePath and equal weights: each new part gets
// equally many entries and owned majors together. Each major that p owns has one owner
// among the new parts. If p has a carry, the first new part that holds entries has it.
//
// ptr holds the pointers of the whole matrix, or a window of them: the pointers of some
// consecutive majors, with p shifted to the first of these (see Part.Shift). Within fails
// with a *sparse.InputError if n is not in [1, MaxParts] or p does not lie within ptr.
func Within(ptr []int64, p Part, n int) ([]Part, error) {
	if err := checkParts(n); err != nil {
		return nil, err
	}
	c, err := newCutter(ptr, p, RuleMergePath)
	if err != nil {
		return nil, err
	}
	return c.equal(n)
}

// WithinCOO is Within for the sorted index of a COO matrix.
func WithinCOO(idx []int32, p Part, n int) ([]Part, error) {
	if err := checkParts(n); err != nil {
		return nil, err
	}
	c, err := newCOOCutter(idx, p, RuleMergePath)
	if err != nil {
		return nil, err
	}
	return c.equal(n)
}
