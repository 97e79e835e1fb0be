package merge

import "github.com/msrep-go/msrep/sparse"

// scaleAdd computes y = beta*y + p for equal lengths. If beta = 0 it does not read y. The
// conversion to V keeps the compiler from fusing the product with the sum, so every
// processor computes the same bits.
func scaleAdd[V sparse.Value](y []V, beta V, p []V) {
	p = p[:len(y)]
	switch beta {
	case 0:
		copy(y, p)
	case 1:
		for i, v := range p {
			y[i] += v
		}
	default:
		for i, v := range p {
			y[i] = V(beta*y[i]) + v
		}
	}
}

// Scale computes y = beta*y. If beta = 0 it does not read y.
func Scale[V sparse.Value](y []V, beta V) {
	switch beta {
	case 0:
		clear(y)
	case 1:
	default:
		for i := range y {
			y[i] *= beta
		}
	}
}
