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

// AddCarries computes Y[Row[k]] += Val[k] for all k. Row must be sorted in ascending order; rows may repeat.
type AddCarries[V sparse.Value] struct {
	Row Array[int32]
	Val Array[V]
	Y   Array[V]
}

// SumPartials computes Y = Beta*Y + the sum of P[k] over all k. The sum is a tree of fixed shape that adds
// pairs at strides 1, 2, 4, ...: for five vectors ((p0+p1)+(p2+p3))+p4. Beta = 0 does not read Y. Y must not
// be one of P. Vectors of P may lie on other devices that the executing device reads, as in Pull.
type SumPartials[V sparse.Value] struct {
	P    []Array[V]
	Beta V
	Y    Array[V]
}

// The following operations take any number of vectors, all of one length, and read each once. Operations with a fixed number
// are Formulas. Sums are computed in float64 for every V.

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

// Name returns the name of the operation.
func (*Axpby[V]) Name() string { return "axpby" }

// Name returns the name of the operation.
func (*Scale[V]) Name() string { return "scale" }

// Name returns the name of the operation.
func (*Fill[V]) Name() string { return "fill" }

// Name returns the name of the operation.
func (*AddCarries[V]) Name() string { return "add-carries" }

// Name returns the name of the operation.
func (*SumPartials[V]) Name() string { return "sum-partials" }

// Name returns the name of the operation.
func (*Project[V]) Name() string { return "project" }

// Name returns the name of the operation.
func (*Combine[V]) Name() string { return "combine" }
