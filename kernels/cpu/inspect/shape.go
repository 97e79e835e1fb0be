package inspect

import (
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/sparse"
)

// sampleRows is how many successive rows of each window Shape looks at.
const sampleRows = 256

// Shape is what neighbouring rows have in common, in shares of the entries.
type Shape struct {
	Shifted  float64 // one column further than an entry of the row above: diagonals
	Repeated float64 // in the column of an entry of the row above: blocks
}

// ShapeOf looks at 8 windows of 256 rows, evenly spread over the pieces. Rows whose
// columns do not rise count as having nothing in common.
func ShapeOf[V sparse.Value](pieces []form.Rows[V]) Shape {
	var shifted, repeated, entries int64
	for w := range windows {
		r := pieces[w*len(pieces)/windows]
		rows := len(r.Ptr) - 1
		of := max(windows/len(pieces), 1)
		first := rows * (w % of) / of
		last := min(first+sampleRows, rows)
		for i := first + 1; i < last; i++ {
			above, row := rowOf(r, i-1), rowOf(r, i)
			shifted += common(above, row, 1)
			repeated += common(above, row, 0)
			entries += int64(len(row))
		}
	}
	if entries == 0 {
		return Shape{}
	}
	return Shape{float64(shifted) / float64(entries), float64(repeated) / float64(entries)}
}

func rowOf[V sparse.Value](r form.Rows[V], i int) []int32 {
	return r.Idx[r.Ptr[i]-r.Ptr[0] : r.Ptr[i+1]-r.Ptr[0]]
}

// common counts the entries of row that are by columns further than one of above.
func common(above, row []int32, by int32) (n int64) {
	k := 0
	for _, c := range row {
		for k < len(above) && above[k] < c-by {
			k++
		}
		if k < len(above) && above[k] == c-by {
			n++
		}
	}
	return n
}
