package partition

// Within cuts a part of a compressed matrix once more into n parts, for the
// workers of one device: Share by merge path with equal weights, so that entries
// and owned majors together are shared out evenly. The majors that p owns are
// owned by one of the new parts each, and if p has a carry, so has the first of
// them that holds entries.
//
// ptr may be the pointers of the whole matrix or a window of them with p shifted
// to it (see Shift). It fails with a *sparse.InputError when n is not in
// [1, MaxParts] or p does not lie within ptr.
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
