package kernels

import "github.com/msrep-go/msrep/sparse"

// Axpby computes Y = Alpha*X + Beta*Y. Beta = 0 does not read Y. X must not be Y.
type Axpby[V sparse.Value] struct {
	Alpha V
	X     Array[V]
	Beta  V
	Y     Array[V]
}

// Scale computes Y = Beta*Y. Beta = 0 does not read Y.
type Scale[V sparse.Value] struct {
	Beta V
	Y    Array[V]
}

// Fill sets every element of Y to Value.
type Fill[V sparse.Value] struct {
	Value V
	Y     Array[V]
}

// Multiply computes Z = D*R, element by element.
type Multiply[V sparse.Value] struct{ D, R, Z Array[V] }

// AddCarries computes Y[Row[k]] += Val[k] for all k. Row must be sorted in ascending order; rows may repeat.
type AddCarries[V sparse.Value] struct {
	Row Array[int32]
	Val Array[V]
	Y   Array[V]
}

// SumPartials computes Y = Beta*Y + the sum of P[k] over all k. The sum is a tree of fixed shape that adds
// pairs at strides 1, 2, 4, ...: for five vectors ((p0+p1)+(p2+p3))+p4. Beta = 0 does not read Y. Y must not
// be one of P.
type SumPartials[V sparse.Value] struct {
	P    []Array[V]
	Beta V
	Y    Array[V]
}

// The following operations write sums to Sums. Sums are computed in float64 for every V. Each operation
// reads each of its vectors once. All vectors of an operation have the same length.

// Project computes Sums[j] = V[j]'W. W may be one of V.
type Project[V sparse.Value] struct {
	V    []Array[V] // one or more
	W    Array[V]
	Sums Array[float64] // len(V)
}

// Combine computes W = W + the sum of H[j]*V[j] and, where Sums is not empty, Sums[0] = W'W. W must not be
// one of V.
type Combine[V sparse.Value] struct {
	H    []V        // one or more
	V    []Array[V] // len(H)
	W    Array[V]
	Sums Array[float64] // 1, or empty
}

// Misfit computes Sums[0] = |Y - A*X|^2.
type Misfit[V sparse.Value] struct {
	A    V
	X, Y Array[V]
	Sums Array[float64] // 1
}

// CGStep ends an iteration of CG (Hestenes and Stiefel, 1952):
//
//	X = X + A*P
//	R = R - A*Q
//	Sums[0] = R'R
//
// X is the solution, R its residual, P the search direction, and Q the matrix times P. A = R'Z / P'Q, where
// Z is the preconditioned R, or R itself without a preconditioner.
type CGStep[V sparse.Value] struct {
	A          V
	P, Q, X, R Array[V]
	Sums       Array[float64] // 1
}

// BiCGSTABDirection computes the next search direction of BiCGSTAB (van der Vorst, 1992):
//
//	P = R + B*(P - W*V)
//
// R is the residual and V the matrix times the old P, or times the preconditioned old P. A, W and C are those
// of the BiCGSTABStep before, and B = (C'R / the previous C'R) * (A / W).
type BiCGSTABDirection[V sparse.Value] struct {
	B, W    V
	R, V, P Array[V]
}

// BiCGSTABStep ends an iteration of BiCGSTAB (van der Vorst, 1992):
//
//	X = X + A*P + W*S
//	R = R - W*T
//	Sums[0], Sums[1] = R'R, C'R
//
// X is the solution and P the search direction. On entry R is the residual minus A*V, with V as in
// BiCGSTABDirection and A = C'R / C'V with the R before that subtraction. S is R on entry and may be the same
// array; T is the matrix times S, and W = T'R / T'T. With a preconditioner, P and S are the preconditioned
// direction and the preconditioned R. C is any vector that stays the same in all iterations, usually the
// first residual.
type BiCGSTABStep[V sparse.Value] struct {
	A, W             V
	P, S, T, C, X, R Array[V]
	Sums             Array[float64] // 2
}

// Name returns the name of the operation.
func (*Axpby[V]) Name() string { return "axpby" }

// Name returns the name of the operation.
func (*Scale[V]) Name() string { return "scale" }

// Name returns the name of the operation.
func (*Fill[V]) Name() string { return "fill" }

// Name returns the name of the operation.
func (*Multiply[V]) Name() string { return "multiply" }

// Name returns the name of the operation.
func (*AddCarries[V]) Name() string { return "add-carries" }

// Name returns the name of the operation.
func (*SumPartials[V]) Name() string { return "sum-partials" }

// Name returns the name of the operation.
func (*Project[V]) Name() string { return "project" }

// Name returns the name of the operation.
func (*Combine[V]) Name() string { return "combine" }

// Name returns the name of the operation.
func (*Misfit[V]) Name() string { return "misfit" }

// Name returns the name of the operation.
func (*CGStep[V]) Name() string { return "cg-step" }

// Name returns the name of the operation.
func (*BiCGSTABDirection[V]) Name() string { return "bicgstab-direction" }

// Name returns the name of the operation.
func (*BiCGSTABStep[V]) Name() string { return "bicgstab-step" }
