package order_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/order"
)

// Node 0 is adjacent to all others. Eliminating it first would make all others adjacent to
// each other; a minimum degree order eliminates it when one other is left.
func ExampleAMD() {
	// 9 1 1 1
	// 1 9 . .
	// 1 . 9 .
	// 1 . . 9
	a, err := sparse.NewCSR(4, 4, []int64{0, 4, 6, 8, 10},
		[]int32{0, 1, 2, 3, 0, 1, 0, 2, 0, 3},
		[]float64{9, 1, 1, 1, 1, 9, 1, 9, 1, 9})
	if err != nil {
		log.Fatal(err)
	}
	p, err := order.AMD(a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	// Output: [3 2 0 1]
}

// In a path of 1001 nodes, node 500 separates two equal parts.
func ExampleDissection() {
	a, _, err := gen.Generate("banded:n=1001,band=1,density=1")
	if err != nil {
		log.Fatal(err)
	}
	p, err := order.Dissection(a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p[1000])
	// Output: 500
}

// Column 0 shares a row with each other column, so it waits until one other is left.
func ExampleColumnAMD() {
	// 1 1 . .
	// 1 . 1 .
	// 1 . . 1
	a, err := sparse.NewCSR(3, 4, []int64{0, 2, 4, 6}, []int32{0, 1, 0, 2, 0, 3}, []float64{1, 1, 1, 1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	q, err := order.ColumnAMD(a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(q)
	// Output: [1 2 0 3]
}

// A long narrow grid whose rows were numbered along its long side.
func ExampleRCM() {
	a, _, err := gen.Generate("stencil:dims=2,nx=100,ny=5")
	if err != nil {
		log.Fatal(err)
	}
	p, err := order.RCM(a)
	if err != nil {
		log.Fatal(err)
	}
	b, err := sparse.Permute(a, p, p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Of(a).Bandwidth, stats.Of(b).Bandwidth)
	// Output: 100 5
}

// The largest entries move to the diagonal, and become 1.
func ExampleMatch() {
	// .  8
	// 2 16
	a, err := sparse.NewCSR(2, 2, []int64{0, 1, 3}, []int32{1, 0, 1}, []float64{8, 2, 16})
	if err != nil {
		log.Fatal(err)
	}
	m, err := order.Match(a)
	if err != nil {
		log.Fatal(err)
	}
	scaled, err := sparse.Scale(a, m.RowScale, m.ColScale)
	if err != nil {
		log.Fatal(err)
	}
	b, err := sparse.Permute(scaled, m.Rows, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Size, m.Rows, b.RowPtr, b.ColIdx, b.Val)
	// Output: 2 [1 0] [0 2 3] [0 1 1] [1 1 1]
}

// Two systems of 1 and 2 unknowns; the second can be solved without the first.
func ExampleBlockTriangular() {
	// 1 . 1
	// 1 5 1
	// 1 . 2
	a, err := sparse.NewCSR(3, 3, []int64{0, 2, 5, 7}, []int32{0, 2, 0, 1, 2, 0, 2}, []float64{1, 1, 1, 5, 1, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	m, err := order.Match(a)
	if err != nil {
		log.Fatal(err)
	}
	b, err := order.BlockTriangular(a, m.Rows)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Start, b.Rows, b.Cols)
	// Output: [0 1 3] [1 0 2] [1 0 2]
}

// Rows 0 and 2 have entries in column 1 only.
func ExampleDeficient() {
	// . 1 .
	// 1 1 1
	// . 3 .
	a, err := sparse.NewCSR(3, 3, []int64{0, 1, 4, 5}, []int32{1, 0, 1, 2, 1}, []float64{1, 1, 1, 1, 3})
	if err != nil {
		log.Fatal(err)
	}
	m, err := order.Match(a)
	if err != nil {
		log.Fatal(err)
	}
	d, err := order.Deficient(a, m.Rows)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("structural rank", m.Size)
	fmt.Println("rows", d.Rows, "have entries in columns", d.Cols, "only")
	fmt.Println("columns", d.ColsShort, "have entries in rows", d.RowsShort, "only")
	// Output:
	// structural rank 2
	// rows [0 2] have entries in columns [1] only
	// columns [0 2] have entries in rows [1] only
}

func ExampleSymmetry() {
	// 1 2 3
	// 2 1 .
	// 4 5 1
	a, err := sparse.NewCSR(3, 3, []int64{0, 3, 5, 8}, []int32{0, 1, 2, 0, 1, 0, 1, 2}, []float64{1, 2, 3, 2, 1, 4, 5, 1})
	if err != nil {
		log.Fatal(err)
	}
	pattern, values, err := order.Symmetry(a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pattern, values)
	// Output: 0.8 0.4
}
