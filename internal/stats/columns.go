package stats

import (
	"math"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
)

// maxScanners limits the goroutines that each read every column index: with more, the
// shared reads cost more than they gain.
const maxScanners = 16

// countColumns returns the histogram of the numbers of entries of the columns.
func countColumns(cols int, colIdx []int32) *histogram {
	if int64(len(colIdx)) <= math.MaxUint32 {
		return tally(make([]uint32, cols), colIdx)
	}
	return tally(make([]uint64, cols), colIdx)
}

// tally counts the entries of each column in count and returns the histogram of the
// counts. Each goroutine owns a range of columns and scans all indices for them, so
// goroutines share no counter.
func tally[C uint32 | uint64](count []C, colIdx []int32) *histogram {
	total := newHistogram()
	var mu sync.Mutex
	cols := int64(len(count))
	workers := min(par.Workers(int64(len(colIdx))+cols, 1<<15), maxScanners)
	par.Do(workers, func(w int) {
		lo, hi := par.Cut(cols, workers, w), par.Cut(cols, workers, w+1)
		own := count[lo:hi]
		for _, j := range colIdx {
			if at := int64(j) - lo; uint64(at) < uint64(len(own)) {
				own[at]++
			}
		}
		part := newHistogram()
		for _, k := range own {
			part.add(int64(k), 1)
		}
		mu.Lock()
		defer mu.Unlock()
		total.merge(part)
	})
	return total
}

// exponent returns R of P(k) ~ k^-R, or nil if it is undefined; see Stats.PowerLawR. It
// uses counts instead of P(k), because the number of columns only shifts ln P(k).
func exponent(columns *histogram) *float64 {
	var n, sumX, sumY float64
	var points [][2]float64
	for _, k := range columns.values() {
		if k == 0 {
			continue
		}
		x, y := math.Log(float64(k)), math.Log(float64(columns.count(k)))
		points = append(points, [2]float64{x, y})
		n, sumX, sumY = n+1, sumX+x, sumY+y
	}
	if len(points) < 2 {
		return nil
	}
	var sxx, sxy float64
	for _, p := range points {
		dx, dy := p[0]-sumX/n, p[1]-sumY/n
		sxx += dx * dx
		sxy += dx * dy
	}
	r := 0 - sxy/sxx
	return &r
}
