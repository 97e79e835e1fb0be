// Command instructions runs products and vector operations one after the other, so that an emulator of the processor
// can count their instructions. The environment variable MSREP_CPU chooses plain Go or assembly. The program calls mark
// before each of them and at the end, and prints a line NAME,ENTRIES for each. .ci/arm64.sh counts.
package main

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/sparse"
)

// work is something that is counted.
type work struct {
	name    string
	entries int
	do      func()
}

const (
	rows   = 256
	perRow = 16

	vectorsAtOnce = 8
)

func main() {
	debug.SetGCPercent(-1)
	all := append(products[float64]("f64"), products[float32]("f32")...)
	all = append(all, vectors()...)
	for _, w := range all {
		w.do() // so that nothing is done for the first time
	}
	for _, w := range all {
		fmt.Printf("%s,%d\n", w.name, w.entries)
		mark()
		w.do()
	}
	mark()
}

// Marks makes a call of mark visible to the compiler.
var Marks int

//go:noinline
func mark() { Marks++ }

// products returns products by each form: with indices far apart, and with neighbours.
func products[V sparse.Value](of string) []work {
	far := func(r, k int) int32 { return int32((r*7919 + k*127) % (rows * perRow)) }
	near := func(r, k int) int32 { return int32(r + k) }
	var all []work
	for _, fixed := range []bool{false, true} {
		suffix := ", " + of
		if fixed {
			suffix = ", fixed sums" + suffix
		}
		add := func(name string, column func(r, k int) int32, distinct int, build func(r form.Rows[V]) (form.Form[V], error)) {
			r := matrix[V](column, distinct)
			r.Fixed = fixed
			f, err := build(r)
			if err != nil {
				panic(err)
			}
			x, y := make([]V, r.Cols), make([]V, rows)
			all = append(all, work{name + suffix, len(r.Idx), func() { f.Multiply(1, 0, x, y) }})
			if c, ok := f.(*csr.CSR[V]); ok && !fixed {
				x := form.MultiVector[V]{Val: make([]V, vectorsAtOnce*r.Cols), Cols: vectorsAtOnce, Stride: vectorsAtOnce}
				y := form.MultiVector[V]{Val: make([]V, vectorsAtOnce*rows), Cols: vectorsAtOnce, Stride: vectorsAtOnce}
				all = append(all, work{fmt.Sprint(name, " by ", vectorsAtOnce, " vectors", suffix), len(r.Idx), func() { c.MultiplyMany(1, 0, x, y) }})
			}
			if !fixed {
				all = append(all, work{name + " transposed" + suffix, len(r.Idx), func() {
					f.MultiplyTransposed(1, y, func(lo, hi int) []V { return x[lo:hi] })
				}})
			}
		}
		inSlices := func(r form.Rows[V]) (form.Form[V], error) {
			return slices.NewSlices(r, slices.SliceOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
		}
		inDiagonals := func(r form.Rows[V]) (form.Form[V], error) {
			return diagonals.NewDiagonals(r, diagonals.DiagonalOptions[V]{Level: simd.Default(), Values: form.FindValues(r.Val)})
		}
		add("csr", far, 1<<30, func(r form.Rows[V]) (form.Form[V], error) { return csr.NewCSRAt(r, simd.Default()), nil })
		add("slices", far, 1<<30, inSlices)
		add("slices of neighbours", near, 1<<30, inSlices)
		add("slices of one value", far, 1, inSlices)
		add("diagonals", near, 1<<30, inDiagonals)
		add("diagonals of one value", near, 1, inDiagonals)
	}
	return all
}

// matrix returns a matrix of rows rows with perRow entries each, which have so many distinct values.
func matrix[V sparse.Value](column func(r, k int) int32, distinct int) form.Rows[V] {
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]V, min(distinct, rows*perRow))
	for i := range values {
		values[i] = V(random.Float64())
	}
	m := form.Rows[V]{Ptr: []int64{0}, Cols: rows * perRow}
	for r := range rows {
		for k := range perRow {
			m.Idx = append(m.Idx, column(r, k))
			m.Val = append(m.Val, values[len(m.Val)%len(values)])
		}
		m.Ptr = append(m.Ptr, int64(len(m.Idx)))
	}
	return m
}

// vectors returns operations on vectors. An entry is an element of each of them.
func vectors() []work {
	const n = 4096
	v := make([][]float64, 8)
	for i := range v {
		v[i] = make([]float64, n)
	}
	var s, t vec.Sum
	many := make([]float64, vec.Parts(8))
	sums := make([]vec.Sum, 4)
	coefficients := make([]float64, 4)
	return []work{
		{"dot", n, func() { vec.AddDot(v[0], v[1], &s) }},
		{"dots", n, func() { vec.AddDots(v[0], v[1], &s, &t) }},
		{"axpy", n, func() { vec.AddAxpy(0.5, v[0], v[1], &s) }},
		{"axpy, scaled", n, func() { vec.AddAxpyScaled(0.5, v[0], v[1], v[2], &s, &t) }},
		{"direction of CG", n, func() { vec.UpdateDirection(0.5, 0.5, v[0], v[1], v[2]) }},
		{"direction of CG, scaled", n, func() { vec.UpdateDirectionScaled(0.5, 0.5, v[0], v[1], v[2], v[3]) }},
		{"direction of BiCGSTAB", n, func() { vec.BiCGSTABDirection(v[0], 0.5, 0.5, v[1], v[2]) }},
		{"step of BiCGSTAB", n, func() { vec.AddBiCGSTABStep(0.5, v[0], 0.5, v[1], v[2], v[3], v[4], v[5], &s, &t) }},
		{"projection on 4", n, func() { vec.Project(v[:4], 0, v[4], v[5], sums, sums) }},
		{"subtraction of 4", n, func() { vec.SubtractProjection(coefficients, coefficients, v[:4], 0, v[4], v[5], &s) }},
		{"combination of 4", n, func() { vec.Combine(1, coefficients, v[:4], 0, v[4], &s) }},
		{"dot of 8", n, func() { vec.DotMany(v[0], v[1], many) }},
		{"axpy of 8", n, func() { vec.AxpyMany(many, v[0], v[1], many) }},
		{"direction of 8", n, func() { vec.UpdateDirectionMany(many, many, v[0], v[1], v[2]) }},
		{"scaling of 8", n, func() { vec.ScaleMany(8, v[0][:n/8], v[1], v[2]) }},
	}
}
