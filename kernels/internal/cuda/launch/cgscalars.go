package launch

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
)

// cgOp plans an operation on the scalars of CG, and reports whether op is one.
func cgOp(b *builder, op kernels.Operation) bool {
	switch op := op.(type) {
	case *kernels.CGAlpha:
		pq, state := array(b, "pq", op.PQ, 1), cgState(b, op.State)
		b.call("msrep_cg_alpha", 1, pq, state)
	case *kernels.CGBeta:
		count := op.Sums.Len
		if count != 1 && count != 2 && b.err == nil {
			b.err = fmt.Errorf("%w: %d sums", kernels.ErrArgument, count)
		}
		sums, state := array(b, "sums", op.Sums, count), cgState(b, op.State)
		b.call("msrep_cg_beta", 1, sums, state, count, op.State.Len-kernels.CGResiduals, op.Norm, op.Tol)
	default:
		return false
	}
	return true
}

// cgState returns the address of the state of CG.
func cgState(b *builder, state kernels.Array[float64]) Addr {
	if state.Len <= kernels.CGResiduals && b.err == nil {
		b.err = fmt.Errorf("%w: a state of %d numbers, it needs more than %d", kernels.ErrArgument, state.Len, kernels.CGResiduals)
	}
	return array(b, "state", state, state.Len)
}
