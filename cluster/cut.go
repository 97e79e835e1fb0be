package cluster

import (
	"math"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/partition"
)

// rowCuts divides the rows of a compressed matrix among ranks by nonzeros (partition.RuleWhole). Inner cuts are
// multiples of align.
func rowCuts(ptr []int64, ranks, align int) ([]int, error) {
	parts, _, err := partition.Split(ptr, ranks, partition.RuleWhole)
	if err != nil {
		return nil, err
	}
	cuts := make([]int, ranks+1)
	for r, p := range parts {
		cuts[r] = aligned(p.OwnFirst, len(ptr)-1, align)
	}
	cuts[ranks] = len(ptr) - 1
	return cuts, nil
}

// aligned returns the multiple of align nearest to cut, at most rows.
func aligned(cut, rows, align int) int {
	if align <= 1 {
		return cut
	}
	return min((cut+align/2)/align*align, rows)
}

// columnCuts divides the columns among ranks: like the rows if the matrix is square, else evenly.
func columnCuts(rowCut []int, rows, cols int) []int {
	if rows == cols {
		return rowCut
	}
	ranks := len(rowCut) - 1
	cuts := make([]int, ranks+1)
	for r := range cuts {
		cuts[r] = int(par.Cut(int64(cols), ranks, r))
	}
	return cuts
}

// owner returns the rank that owns element i.
func owner(cuts []int, i int) int {
	return sort.Search(len(cuts)-2, func(r int) bool { return cuts[r+1] > i })
}

// eachOwner calls f for every run of ascending indices that one rank owns.
func eachOwner(cuts []int, idx []int32, f func(rank int, run []int32)) {
	for len(idx) > 0 {
		r := owner(cuts, int(idx[0]))
		n := sort.Search(len(idx), func(k int) bool { return int(idx[k]) >= cuts[r+1] })
		f(r, idx[:n])
		idx = idx[n:]
	}
}

// finest is the least number of counts that ranks add up to find their cuts.
const finest = 1 << 16

// distributedCuts is rowCuts for entries that are spread over ranks. On each rank, each calls visit with the row of
// every entry of the rank; distributedCuts calls each twice. All ranks call it.
//
// It counts the entries of bunches of rows first, then those of each row in the bunches that contain a cut. Both
// passes count about sqrt(rows*ranks) numbers. The majors of partition.RuleWhole are then single rows and whole
// bunches. In matrices of up to 65536 rows a bunch is one row.
func distributedCuts(c Comm, rows, align int, each func(visit func(row int32))) ([]int, error) {
	ranks := c.Size()
	bunches := max(finest, int(math.Sqrt(float64(rows)*float64(ranks))))
	width := max((rows+bunches-1)/bunches, 1)
	bunches = (rows + width - 1) / width

	coarse := make([]float64, bunches)
	each(func(row int32) { coarse[int(row)/width]++ })
	if err := c.Sum(coarse); err != nil {
		return nil, err
	}
	ptr := make([]int64, bunches+1)
	for b, n := range coarse {
		ptr[b+1] = ptr[b] + int64(n)
	}
	place := make([]int, bunches) // of a bunch with a cut: its number among the fine counts, from 1
	fine := 0
	if width > 1 {
		for r := 1; r < ranks; r++ {
			s := par.Cut(ptr[bunches], ranks, r)
			if b := sort.Search(bunches, func(b int) bool { return ptr[b+1] >= s }); b < bunches && place[b] == 0 {
				fine++
				place[b] = fine
			}
		}
	}
	counts := make([]float64, fine*width)
	if fine > 0 {
		each(func(row int32) {
			if f := place[int(row)/width]; f > 0 {
				counts[(f-1)*width+int(row)%width]++
			}
		})
		if err := c.Sum(counts); err != nil {
			return nil, err
		}
	}
	mixed, starts := []int64{0}, []int{} // pointers of rows and bunches, and the first row of each
	for b := range bunches {
		first := b * width
		if place[b] == 0 {
			mixed, starts = append(mixed, ptr[b+1]), append(starts, first)
			continue
		}
		for i := range min(width, rows-first) {
			mixed, starts = append(mixed, mixed[len(mixed)-1]+int64(counts[(place[b]-1)*width+i])), append(starts, first+i)
		}
	}
	starts = append(starts, rows)
	parts, _, err := partition.Split(mixed, ranks, partition.RuleWhole)
	if err != nil {
		return nil, err
	}
	cuts := make([]int, ranks+1)
	for r, p := range parts {
		cuts[r] = aligned(starts[p.OwnFirst], rows, align)
	}
	cuts[ranks] = rows
	return cuts, nil
}
