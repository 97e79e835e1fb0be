package factor

import "math"

// inverseNorm returns an estimate of the 1-norm of the inverse of an n x n matrix, at most that norm and seldom less than
// a third of it, from solves with the matrix and its transpose. Each overwrites its argument with the solution. Hager, SIAM
// J. Sci. Stat. Comput. 5 (1984) 311-316; Higham, ACM Trans. Math. Softw. 14 (1988) 381-396.
func inverseNorm(n int, solve, transposed func(x []float64) error) (float64, error) {
	if n == 0 {
		return 0, nil
	}
	x, signs := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 1 / float64(n)
	}
	norm, last := 0.0, -1
	for step := range 5 {
		if err := solve(x); err != nil {
			return 0, err
		}
		sum, same := 0.0, step > 0
		for i, v := range x {
			sum += math.Abs(v)
			sign := math.Copysign(1, v)
			same = same && sign == signs[i]
			signs[i] = sign
		}
		if step > 0 && !(sum > norm) {
			break
		}
		norm = sum
		if same || n == 1 {
			break
		}
		copy(x, signs)
		if err := transposed(x); err != nil {
			return 0, err
		}
		largest := 0
		for i, v := range x {
			if math.Abs(v) > math.Abs(x[largest]) {
				largest = i
			}
		}
		if largest == last {
			break
		}
		last = largest
		clear(x)
		x[largest] = 1
	}
	// A vector for which cancellation in the inverse is unlikely.
	for i := range x {
		x[i] = 1
		if n > 1 {
			x[i] += float64(i) / float64(n-1)
		}
		if i%2 == 1 {
			x[i] = -x[i]
		}
	}
	if err := solve(x); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Abs(v)
	}
	return math.Max(norm, 2*sum/(3*float64(n))), nil
}
