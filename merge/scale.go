package merge

import "github.com/msrep-go/msrep/sparse"

// scaleAdd is y = beta*y + p for equal lengths; beta = 0 does not read y. The
// conversion keeps the product from being fused with the sum, so that every
// processor gives the same bits.
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

// Scale is y = beta*y. beta = 0 does not read y.
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
