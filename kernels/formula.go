package kernels

import (
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/sparse"
)

// Formula is an operation on vectors of one length. It computes element i of its results, and term i of its sums, from
// element i of its vectors and from numbers. A device computes it in one pass that reads each vector once.
//
// All devices, devvec.Compute and the solvers take every Formula of Formulas. The CPU loop is in package internal/vec. The GPU
// kernel is in krylov.cu. Its name is msrep_NAME_f64 or msrep_NAME_f32, with "_" for "-". Its arguments are the vectors, the
// length and the numbers. A Formula with sums has two more: the memory of the partial sums before the length, and the number
// of partial sums after it. A Formula with numbers has one more at the end: the address of numbers in device memory, or 0.
type Formula struct {
	Name    string
	Numbers []string
	Vectors []Operand
	Sums    int // computed in float64 for every type of values

	double loop[float64]
	single loop[float32]
}

// Operand is a vector of a Formula.
type Operand struct {
	Name    string
	Written bool   // the vector is a result: no other vector may be the same, except as Or states
	Or      string // the name of a result that may be the same vector; "" for none
}

// loop adds the sums of a Formula to s, for vectors of one chunk; the order of numbers and vectors is that of the Formula.
type loop[V sparse.Value] func(numbers []V, v [][]V, s []vec.Sum)

// formulas lists the results of define.
var formulas []*Formula

// Formulas returns all formulas.
func Formulas() []*Formula { return formulas }

// define makes a Formula. numbers and vectors are names with spaces between them: "&x" is a result, and "s|r" may be the
// same vector as the result r.
func define(name, numbers, vectors string, sums int, double loop[float64], single loop[float32]) *Formula {
	f := &Formula{Name: name, Numbers: strings.Fields(numbers), Sums: sums, double: double, single: single}
	for _, v := range strings.Fields(vectors) {
		v, written := strings.CutPrefix(v, "&")
		v, or, _ := strings.Cut(v, "|")
		f.Vectors = append(f.Vectors, Operand{Name: v, Written: written, Or: or})
	}
	formulas = append(formulas, f)
	return f
}

// Kernel returns the name of the GPU kernel without "msrep_" and the type of the values.
func (f *Formula) Kernel() string { return strings.ReplaceAll(f.Name, "-", "_") }

// MayShare reports whether vectors i and j of the Formula may be the same vector.
func (f *Formula) MayShare(i, j int) bool {
	a, b := f.Vectors[i], f.Vectors[j]
	return i == j || !a.Written && !b.Written || a.Or == b.Name || b.Or == a.Name
}

// Check returns an ErrArgument unless the Formula has exactly as many numbers, vectors and sums.
func (f *Formula) Check(numbers, vectors, sums int) error {
	if numbers != len(f.Numbers) || vectors != len(f.Vectors) || sums != f.Sums {
		return fmt.Errorf("%w: %s of %d numbers, %d vectors and %d sums, not %d, %d and %d", ErrArgument, f.Name,
			len(f.Numbers), len(f.Vectors), f.Sums, numbers, vectors, sums)
	}
	return nil
}

// Elementwise computes a Formula.
type Elementwise[V sparse.Value] struct {
	Formula *Formula
	Numbers []V            // len(Formula.Numbers), or empty with At
	At      Array[float64] // the numbers in memory of the device, which an earlier operation computes; or empty
	Vectors []Array[V]     // len(Formula.Vectors), all of one length
	Sums    Array[float64] // Formula.Sums
}

// Name returns the name of the Formula.
func (op *Elementwise[V]) Name() string { return op.Formula.Name }

// Check returns an ErrArgument unless op has exactly the arguments of its Formula.
func (op *Elementwise[V]) Check() error {
	numbers := len(op.Numbers)
	switch {
	case op.At.Len > 0 && numbers > 0:
		return fmt.Errorf("%w: %s of numbers of the host and of the device", ErrArgument, op.Formula.Name)
	case op.At.Len > 0:
		numbers = int(op.At.Len)
	}
	return op.Formula.Check(numbers, len(op.Vectors), int(op.Sums.Len))
}

// LoopOf returns the CPU loop of a Formula. The loop computes one chunk of the vectors and adds the sums to s. The order of
// numbers and vectors is that of the Formula.
func LoopOf[V sparse.Value](f *Formula) func(numbers []V, v [][]V, s []vec.Sum) {
	if l, ok := any(f.double).(loop[V]); ok {
		return l
	}
	return any(f.single).(loop[V])
}
