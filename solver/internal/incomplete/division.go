package incomplete

import (
	"runtime"
	"slices"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
)

// division says how goroutines share the rows of a triangle. The rows are cut into ranges, one for each goroutine. Some
// rows are shared:
//
//   - of L, the rows that need a shared row or a row of another range. They are solved after all others;
//   - of U, the rows that a shared row or a row of another range needs. They are solved before all others.
//
// Any other row of L needs rows of its range only, of U also shared ones. In a fill-reducing order few rows are shared:
// ranges are subtrees of the elimination tree, shared rows are above them.
type division struct {
	starts []int   // first row of each range, and the number of rows
	shared []bool  // nil if no row is
	rows   []int32 // the shared rows, in the order in which they are solved
}

// minWork is the least work, in entries and rows, that pays for a goroutine.
const minWork = 1 << 15

// divide prepares Solve for as many goroutines as can run at once.
func (f *Factors) divide() {
	workers := runtime.GOMAXPROCS(0)
	par.Range(2, 1, func(first, end int64) {
		for k := first; k < end; k++ {
			if k == 0 {
				f.lower = divide(&f.Lower, false, workers)
			} else {
				f.upper = divide(&f.Upper, true, workers)
			}
		}
	})
}

// divide returns the division with the least work one after the other: one range, or workers ranges, or half as many
// and so on.
func divide(r *Rows, upper bool, workers int) division {
	n := len(r.Ptr) - 1
	best := division{starts: []int{0, n}}
	total := r.work(0, n)
	least, parts := total, min(int64(workers), total/minWork)
	if parts < 2 {
		return best
	}
	crossings := r.crossings()
	for ; parts > 1; parts /= 2 {
		d := newDivision(r, upper, r.cuts(int(parts), crossings))
		if longest := d.longest(r) + minWork; longest < least {
			best, least = d, longest
		}
	}
	return best
}

// work returns the number of rows and entries from row first to before row end.
func (r *Rows) work(first, end int) int64 { return r.Ptr[end] - r.Ptr[first] + int64(end-first) }

// crossings returns, for each row, the number of entries that join it or a later row with an earlier one.
func (r *Rows) crossings() []int64 {
	count := make([]int64, len(r.Ptr))
	for i := range len(count) - 1 {
		col, _ := r.row(i)
		for _, j := range col {
			count[min(int(j), i)+1]++
			count[max(int(j), i)+1]--
		}
	}
	for i := range len(count) - 1 {
		count[i+1] += count[i]
	}
	return count
}

// cuts returns the first rows of ranges of about equal work, and the number of rows. It moves each cut by up to an
// eighth of a range to where the fewest entries cross it.
func (r *Rows) cuts(parts int, crossings []int64) []int {
	n := len(r.Ptr) - 1
	total := r.work(0, n)
	reach := total / int64(parts) / 8
	rowAt := func(work int64) int { return sort.Search(n, func(i int) bool { return r.work(0, i) >= work }) }
	starts := []int{0}
	for k := 1; k < parts; k++ {
		middle := par.Cut(total, parts, k)
		least := rowAt(middle)
		for i := rowAt(middle - reach); i < n && r.work(0, i) <= middle+reach; i++ {
			if crossings[i] < crossings[least] {
				least = i
			}
		}
		if least > starts[len(starts)-1] && least < n {
			starts = append(starts, least)
		}
	}
	return append(starts, n)
}

// newDivision returns the division into these ranges.
func newDivision(r *Rows, upper bool, starts []int) division {
	d := division{starts: starts, shared: make([]bool, len(r.Ptr)-1)}
	for k, first := range d.starts[:len(d.starts)-1] {
		end := d.starts[k+1]
		for i := first; i < end; i++ {
			col, _ := r.row(i)
			for _, j := range col {
				if !upper {
					d.shared[i] = d.shared[i] || d.shared[j] || int(j) < first
				} else if d.shared[i] || int(j) >= end {
					d.shared[j] = true
				}
			}
		}
	}
	for i, is := range d.shared {
		if is {
			d.rows = append(d.rows, int32(i))
		}
	}
	if upper {
		slices.Reverse(d.rows)
	}
	return d
}

// longest returns the work of the shared rows and of the range with the most other work.
func (d *division) longest(r *Rows) int64 {
	most, shared := int64(0), int64(0)
	for k, first := range d.starts[:len(d.starts)-1] {
		own := int64(0)
		for i := first; i < d.starts[k+1]; i++ {
			if d.shared[i] {
				shared += r.work(i, i+1)
			} else {
				own += r.work(i, i+1)
			}
		}
		most = max(most, own)
	}
	return most + shared
}

// eachRange calls f for each range, each in its own goroutine. f solves the rows of the range that are not shared.
func (d *division) eachRange(f func(first, end int, shared []bool)) {
	par.Do(len(d.starts)-1, func(k int) { f(d.starts[k], d.starts[k+1], d.shared) })
}
