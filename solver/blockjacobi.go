package solver

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// MaxBlockSize is the largest block size of BlockJacobi.
const MaxBlockSize = 256

type blockJacobi struct {
	n, size int
	inverse []float64 // inverses of the blocks, each column by column
}

// BlockJacobi returns the preconditioner that multiplies by the inverses of the size x size blocks on the diagonal
// of a square matrix of n rows. The last block is smaller where size does not divide n. The inverses take
// 8*size*n bytes. A block that is singular to working precision (*DiagonalError), a size outside [1, MaxBlockSize],
// and inverses that do not fit in memory are *sparse.InputError. Of a matrix over several processes, see
// cluster.BlockJacobi.
func BlockJacobi(a sparse.Matrix[float64], size int) (Preconditioner, error) {
	m, err := square(a)
	if err != nil {
		return nil, err
	}
	if size < 1 || size > MaxBlockSize {
		return nil, sparse.Inputf("block size", "%d: use 1 to %d", size, MaxBlockSize)
	}
	n := m.Rows
	if err := blocksFit(n, size); err != nil {
		return nil, err
	}
	b := &blockJacobi{n: n, size: size, inverse: make([]float64, n*size)}
	blocks := b.blocks()
	bad := make([]bool, blocks)
	par.Range(int64(blocks), max(applyGrain/int64(size*size*size), 1), func(lo, hi int64) {
		v := inverter{make([]int32, size), make([]float64, size), make([]float64, size)}
		for k := int(lo); k < int(hi); k++ {
			first, inverse := b.block(k)
			order := min(size, n-first)
			addBlock(inverse, m, first, order)
			bad[k] = !v.invert(inverse, order)
		}
	})
	for k, is := range bad {
		if is {
			return nil, &sparse.InputError{Subject: "matrix", Err: &DiagonalError{
				First: k * size, Last: min((k+1)*size, n) - 1,
				what: "is singular to working precision, or its inverse is not finite; use another block size, Jacobi or none",
			}}
		}
	}
	return b, nil
}

// blocksFit returns an error where the inverses of the blocks of n rows do not fit in memory.
func blocksFit(n, size int) error {
	need := 8*int64(size)*int64(n) + int64(n/size)
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("block size", "%d: the blocks of %d rows take %d bytes, %d are available", size, n, need, have)
	}
	return nil
}

func (b *blockJacobi) blocks() int { return (b.n + b.size - 1) / b.size }

// block returns the first row of block k and its inverse.
func (b *blockJacobi) block(k int) (first int, inverse []float64) {
	first = k * b.size
	order := min(b.size, b.n-first)
	return first, b.inverse[first*b.size:][:order*order]
}

// addBlock adds the block of a that begins at row and column first to block, which is stored by columns.
func addBlock(block []float64, a *sparse.CSR[float64], first, order int) {
	for i := range order {
		for e := a.RowPtr[first+i]; e < a.RowPtr[first+i+1]; e++ {
			if j := int(a.ColIdx[e]) - first; j >= 0 && j < order {
				block[j*order+i] += a.Val[e]
			}
		}
	}
}

// inverter has the working memory of invert.
type inverter struct {
	swapped       []int32   // the row that each row was swapped with
	rows, columns []float64 // the largest magnitude in each row and column
}

// invert replaces a block of order m by its inverse, by Gauss-Jordan elimination with partial pivoting. It returns
// false where the inverse is not finite, or where a pivot is a rounding error: below m*2^-52 of the largest
// element that its row or its column had at the start. It treats the columns of the block as rows: the inverse
// of the transpose is the transpose of the inverse.
func (v *inverter) invert(block []float64, m int) bool {
	at := func(i int) []float64 { return block[i*m:][:m] }
	swapped, rows, columns := v.swapped[:m], v.rows[:m], v.columns[:m]
	clear(columns)
	for i := range m {
		rows[i] = space.LargestOf(at(i))
		for j, e := range at(i) {
			columns[j] = max(columns[j], math.Abs(e))
		}
	}
	for c := range m {
		p := c
		for i := c + 1; i < m; i++ {
			if math.Abs(block[i*m+c]) > math.Abs(block[p*m+c]) {
				p = i
			}
		}
		swapped[c] = int32(p)
		top := at(c)
		if other := at(p); p != c {
			for j := range top {
				top[j], other[j] = other[j], top[j]
			}
			rows[c], rows[p] = rows[p], rows[c]
		}
		d := 1 / top[c]
		if !space.Finite(d) || d == 0 || math.Abs(top[c]) < float64(m)*0x1p-52*min(rows[c], columns[c]) {
			return false
		}
		top[c] = 1
		vec.ScaleTo(d, top, top)
		for i := range m {
			row := at(i)
			if f := row[c]; i != c && f != 0 {
				row[c] = 0
				for j, t := range top {
					row[j] -= float64(f * t)
				}
			}
		}
	}
	for c := m - 1; c >= 0; c-- { // undo the row swaps, which are column swaps of the inverse
		if p := int(swapped[c]); p != c {
			for i := range m {
				block[i*m+c], block[i*m+p] = block[i*m+p], block[i*m+c]
			}
		}
	}
	return !slices.ContainsFunc(block, func(v float64) bool { return !space.Finite(v) })
}

func (b *blockJacobi) Size() int { return b.n }

func (b *blockJacobi) Apply(r, z []float64) error {
	if err := checkApply(b.n, r, z); err != nil {
		return err
	}
	return b.ApplyOn(nil, r, z)
}

// ApplyOn is Apply, on the workers of operator a if it has workers.
func (b *blockJacobi) ApplyOn(a any, r, z []float64) error {
	f := func(lo, hi int) {
		if b.size == 1 {
			vec.Multiply(b.inverse[lo:hi], r[lo:hi], z[lo:hi])
			return
		}
		for k := lo; k < hi; k++ {
			first, inverse := b.block(k)
			last := min(first+b.size, b.n)
			multiply(inverse, r[first:last], z[first:last])
		}
	}
	area := b.size * b.size
	if w, ok := a.(space.Workers); ok {
		return w.Range(b.blocks(), SumChunk/area, f)
	}
	par.Range(int64(b.blocks()), int64(max(applyGrain/area, 1)), func(lo, hi int64) { f(int(lo), int(hi)) })
	return nil
}

// multiply computes z = B*r for a square block b stored by columns. Columns are added in order, four in a pass.
func multiply(b, r, z []float64) {
	m := len(z)
	r = r[:m]
	clear(z)
	j := 0
	for ; j < m%4; j++ {
		c, f := b[j*m:][:m], r[j]
		for i := range z {
			z[i] += float64(c[i] * f)
		}
	}
	for ; j < m; j += 4 {
		c0, c1, c2, c3 := b[j*m:][:m], b[(j+1)*m:][:m], b[(j+2)*m:][:m], b[(j+3)*m:][:m]
		r0, r1, r2, r3 := r[j], r[j+1], r[j+2], r[j+3]
		for i, s := range z {
			z[i] = s + float64(c0[i]*r0) + float64(c1[i]*r1) + float64(c2[i]*r2) + float64(c3[i]*r3)
		}
	}
}
