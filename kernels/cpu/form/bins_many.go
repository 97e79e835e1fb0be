package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// MultiplyMany multiplies one column after the other, on copies from the Go heap of what a
// block of columns takes of x and a block of rows gives of y.
func (f *binsForm[V]) MultiplyMany(alpha, beta V, x, y simd.Block[V]) {
	part, rows := make([]V, min(1<<f.shift, f.cols)), make([]V, min(f.height, f.rows))
	for j := range y.Cols {
		for g := range len(f.groups) - 1 {
			for c := range f.across {
				if s := g*f.across + c; f.first[s] == f.first[s+1] {
					continue
				}
				lo := c << f.shift
				part := part[:min(len(part), f.cols-lo)]
				for i := range part {
					part[i] = x.Val[(lo+i)*x.Stride+j]
				}
				f.write(g, c, part, nil)
			}
			simd.Fence(f.level)
			for b := f.groups[g]; b < f.groups[g+1]; b++ {
				sums, to := f.sum(g, b), y.From(b*f.height)
				rows := rows[:len(sums)]
				if beta != 0 {
					for i := range rows {
						rows[i] = to.Val[i*to.Stride+j]
					}
				}
				simd.Finish(f.level, alpha, beta, sums, rows, false)
				for i, v := range rows {
					to.Val[i*to.Stride+j] = v
				}
			}
		}
	}
}

// RowsFrom tells that the rows in CSR, which read x once for all vectors, are for more than
// a few.
func (f *binsForm[V]) RowsFrom() int { return 4 }
