package factor_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

// A system whose matrix has zeros on its diagonal.
func ExampleNewLU() {
	//	0 2 0   x0   2
	//	1 0 1 * x1 = 4
	//	0 1 3   x2   10
	a, err := sparse.NewCSR(3, 3, []int64{0, 1, 3, 5}, []int32{1, 0, 2, 1, 2}, []float64{2, 1, 1, 1, 3})
	if err != nil {
		panic(err)
	}
	f, err := factor.NewLU(context.Background(), a, factor.LUOptions{})
	if err != nil {
		panic(err)
	}
	x := make([]float64, 3)
	if err := f.Apply([]float64{2, 4, 10}, x); err != nil {
		panic(err)
	}
	fmt.Println(x)
	// Output: [1 1 3]
}

// Factors that would be too large are refused before they are computed.
func ExampleNewLU_memory() {
	a := laplacian(100)
	_, err := factor.NewLU(context.Background(), a, factor.LUOptions{MaxBytes: 1 << 20})
	var memory *factor.MemoryError
	fmt.Println(errors.As(err, &memory), memory.Have)
	// Output: true 1048576
}

// Two time steps: the second one computes values only.
func ExampleNewCholesky() {
	a := laplacian(50)
	f, err := factor.NewCholesky(context.Background(), a, factor.CholeskyOptions{})
	if err != nil {
		panic(err)
	}
	b, x := ones(a.Rows), make([]float64, a.Rows)
	for range 2 {
		if err := f.Apply(b, x); err != nil {
			panic(err)
		}
		fmt.Printf("%.3f\n", x[a.Rows/2])
		for k := range a.Val {
			a.Val[k] *= 2
		}
		if err := f.Refactor(context.Background(), a); err != nil {
			panic(err)
		}
	}
	// Output:
	// 16.718
	// 8.359
}

// The matrix is not definite.
func ExampleNewCholesky_indefinite() {
	a, err := sparse.NewCSR(2, 2, []int64{0, 2, 4}, []int32{0, 1, 0, 1}, []float64{1, 2, 2, 1})
	if err != nil {
		panic(err)
	}
	_, err = factor.NewCholesky(context.Background(), a, factor.CholeskyOptions{})
	fmt.Println(errors.Is(err, factor.ErrNotPositiveDefinite))
	// Output: true
}

func ExampleLU_Condition() {
	a, err := sparse.NewCSR(2, 2, []int64{0, 1, 2}, []int32{0, 1}, []float64{1e6, 1e-6})
	if err != nil {
		panic(err)
	}
	f, err := factor.NewLU(context.Background(), a, factor.LUOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2g\n", f.Condition())
	// Output: 1e+12
}
