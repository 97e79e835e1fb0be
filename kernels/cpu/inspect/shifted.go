package inspect

import (
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/sparse"
)

// What Shifted looks at.
const (
	windows    = 8
	windowRows = 256
)

// Shifted is the share of the entries that are one column further than an entry of
// the row above: those that continue a diagonal. It looks at 8 windows of 256 rows,
// evenly spread over the pieces. In rows whose columns do not rise it may miss some.
func Shifted[V sparse.Value](pieces []form.Rows[V]) float64 {
	var shifted, entries int64
	for w := range windows {
		r := pieces[w*len(pieces)/windows]
		rows := len(r.Ptr) - 1
		of := max(windows/len(pieces), 1)
		first := rows * (w % of) / of
		last := min(first+windowRows, rows)
		for i := first + 1; i < last; i++ {
			above, row := rowOf(r, i-1), rowOf(r, i)
			shifted += continued(above, row)
			entries += int64(len(row))
		}
	}
	if entries == 0 {
		return 0
	}
	return float64(shifted) / float64(entries)
}

func rowOf[V sparse.Value](r form.Rows[V], i int) []int32 {
	return r.Idx[r.Ptr[i]-r.Ptr[0] : r.Ptr[i+1]-r.Ptr[0]]
}

// continued counts the entries of row that are one column further than one above.
func continued(above, row []int32) (n int64) {
	k := 0
	for _, c := range row {
		for k < len(above) && above[k] < c-1 {
			k++
		}
		if k < len(above) && above[k] == c-1 {
			n++
		}
	}
	return n
}
