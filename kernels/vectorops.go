package kernels

import "github.com/msrep-go/msrep/sparse"

// Axpby is Y = Alpha*X + Beta*Y. Beta = 0 does not read Y. X is not Y.
type Axpby[V sparse.Value] struct {
	Alpha V
	X     Array[V]
	Beta  V
	Y     Array[V]
}

// Scale is Y = Beta*Y. Beta = 0 does not read Y.
type Scale[V sparse.Value] struct {
	Beta V
	Y    Array[V]
}

// Fill is Y = Value in every element.
type Fill[V sparse.Value] struct {
	Value V
	Y     Array[V]
}

// Multiply is Z = D*R, element by element.
type Multiply[V sparse.Value] struct{ D, R, Z Array[V] }

// AddCarries is Y[Row[k]] += Val[k] for all k. Row does not fall.
type AddCarries[V sparse.Value] struct {
	Row Array[int32]
	Val Array[V]
	Y   Array[V]
}

// SumPartials is Y = Beta*Y + the sum of P[k] over all k, which is a tree of fixed shape,
// pairs at strides 1, 2, 4, ...: for five ((p0+p1)+(p2+p3))+p4. Beta = 0 does not read Y.
// Y is none of them.
type SumPartials[V sparse.Value] struct {
	P    []Array[V]
	Beta V
	Y    Array[V]
}

// The operations that follow leave sums, in Sums. Sums are in float64 whatever V is.
// Each vector is read once; all of an operation have the same length.

// Project leaves Sums[j] = V[j]'W. The vectors may be the same.
type Project[V sparse.Value] struct {
	V    []Array[V] // one or more
	W    Array[V]
	Sums Array[float64] // len(V)
}

// Combine is W = W + the sum of H[j]*V[j], and leaves W'W where there is room for it.
// No V[j] is W.
type Combine[V sparse.Value] struct {
	H    []V
	V    []Array[V] // as many, one or more
	W    Array[V]
	Sums Array[float64] // 1, or none
}

// Misfit leaves the squared length of Y - A*X.
type Misfit[V sparse.Value] struct {
	A    V
	X, Y Array[V]
	Sums Array[float64] // 1
}

// CGStep is the end of an iteration of CG: X = X + A*P and R = R - A*Q. It leaves R'R.
//
// X is the solution, R its residual, P the direction of the search, Q the matrix times P,
// and A = R'Z / P'Q, where Z is R, or what the preconditioner makes of R.
type CGStep[V sparse.Value] struct {
	A          V
	P, Q, X, R Array[V]
	Sums       Array[float64] // 1
}

// BiCGSTABDirection is the next direction of BiCGSTAB: P = R + B*(P - W*V).
//
// R is the residual, V the matrix times the old P (preconditioned, if so), W that of
// Finish, and B = (C'R / the C'R before it) * (A / W), with A and C'R those of Finish.
type BiCGSTABDirection[V sparse.Value] struct {
	B, W    V
	R, V, P Array[V]
}

// BiCGSTABStep is the end of an iteration of BiCGSTAB: X = X + A*P + W*S and R = R - W*T,
// where S may be R as it was. It leaves R'R and C'R.
//
// X is the solution, R comes as the residual halfway, from which A times V was taken
// already (V as in Turn, A = C'R / C'V with the R before that), S is R, T the matrix
// times S, and W = T'R / T'T. With a preconditioner, P and S are what it makes of the
// direction and of R. C is the first residual, or any other vector that stays.
type BiCGSTABStep[V sparse.Value] struct {
	A, W             V
	P, S, T, C, X, R Array[V]
	Sums             Array[float64] // 2
}

// Name names the operation.
func (*Axpby[V]) Name() string { return "axpby" }

// Name names the operation.
func (*Scale[V]) Name() string { return "scale" }

// Name names the operation.
func (*Fill[V]) Name() string { return "fill" }

// Name names the operation.
func (*Multiply[V]) Name() string { return "multiply" }

// Name names the operation.
func (*AddCarries[V]) Name() string { return "add-carries" }

// Name names the operation.
func (*SumPartials[V]) Name() string { return "sum-partials" }

// Name names the operation.
func (*Project[V]) Name() string { return "project" }

// Name names the operation.
func (*Combine[V]) Name() string { return "combine" }

// Name names the operation.
func (*Misfit[V]) Name() string { return "misfit" }

// Name names the operation.
func (*CGStep[V]) Name() string { return "cg-step" }

// Name names the operation.
func (*BiCGSTABDirection[V]) Name() string { return "bicgstab-direction" }

// Name names the operation.
func (*BiCGSTABStep[V]) Name() string { return "bicgstab-step" }
