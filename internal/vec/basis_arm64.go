package vec

// dotFourTwoF64NEON multiplies two x at a time: the sums of four do not fit in the registers.
func dotFourTwoF64NEON(n int, x0, x1, x2, x3, y, z *float64, s0, s1, s2, s3, t0, t1, t2, t3 *[8]float64) {
	dotTwoTwoF64NEON(n, x0, x1, y, z, s0, s1, t0, t1)
	dotTwoTwoF64NEON(n, x2, x3, y, z, s2, s3, t2, t3)
}

// dotFourTwoIntsF64NEON is dotFourTwoF64NEON for integers.
func dotFourTwoIntsF64NEON(n int, q0, q1, q2, q3 *int32, y, z *float64, s0, s1, s2, s3, t0, t1, t2, t3 *[8]float64) {
	dotTwoTwoIntsF64NEON(n, q0, q1, y, z, s0, s1, t0, t1)
	dotTwoTwoIntsF64NEON(n, q2, q3, y, z, s2, s3, t2, t3)
}
