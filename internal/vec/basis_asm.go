//go:build amd64

package vec

// dotFourTwoF64AVX2 multiplies two x at a time: the sums of four do not fit in the registers.
func dotFourTwoF64AVX2(n int, x0, x1, x2, x3, y, z *float64, s0, s1, s2, s3, t0, t1, t2, t3 *[8]float64) {
	dotTwoTwoF64AVX2(n, x0, x1, y, z, s0, s1, t0, t1)
	dotTwoTwoF64AVX2(n, x2, x3, y, z, s2, s3, t2, t3)
}

// dotFourTwoIntsF64AVX2 is dotFourTwoF64AVX2 for integers.
func dotFourTwoIntsF64AVX2(n int, q0, q1, q2, q3 *int32, y, z *float64, s0, s1, s2, s3, t0, t1, t2, t3 *[8]float64) {
	dotTwoTwoIntsF64AVX2(n, q0, q1, y, z, s0, s1, t0, t1)
	dotTwoTwoIntsF64AVX2(n, q2, q3, y, z, s2, s3, t2, t3)
}
