package measure

import (
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// clockCost is how many seconds it takes to read the clock, the least of many
// readings in a row.
func clockCost() float64 {
	best := time.Hour
	for range 100 {
		begin := time.Now()
		end := begin
		for range 100 {
			end = time.Now()
		}
		best = min(best, end.Sub(begin))
	}
	return best.Seconds() / 100
}

// Memory is a piece of memory larger than the caches of most machines, to measure
// their bandwidth and to empty them. Free it.
type Memory struct {
	region *mem.Region
	words  []float64
	sum    float64 // of what was read, so that no compiler leaves it out
}

// NewMemory takes bytes of memory outside the Go heap, rounded down to 64.
func NewMemory(bytes int64) (*Memory, error) {
	r, err := mem.New(max(bytes/64, 1) * 64)
	if err != nil {
		return nil, err
	}
	words, _ := mem.Slice[float64](r.Bytes(), max(bytes/64, 1)*8)
	m := &Memory{region: r, words: words}
	par.Range(int64(len(words)), 1<<12, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			words[i] = 1
		}
	})
	return m, nil
}

// Free gives the memory back.
func (m *Memory) Free() error { return m.region.Free() }

// Read reads all of the memory once, as Sum does, and gives the bytes it read.
func (m *Memory) Read() int64 {
	m.sum += Sum(m.words)
	return int64(8 * len(m.words))
}

// Sum adds up all of v, on all cores. Each core reads four streams: one alone does not
// reach the memory's speed.
func Sum(v []float64) (sum float64) {
	sums := make([]float64, par.Workers(int64(len(v)), 1))
	w := len(sums)
	par.Do(w, func(i int) {
		piece := v[par.Cut(int64(len(v)), w, i):par.Cut(int64(len(v)), w, i+1)]
		q := len(piece) / 4
		a, b, c, d := piece[:q], piece[q:2*q], piece[2*q:3*q], piece[3*q:4*q]
		var s0, s1, s2, s3 float64
		for k := range a {
			s0 += a[k]
			s1 += b[k]
			s2 += c[k]
			s3 += d[k]
		}
		for _, x := range piece[4*q:] {
			s0 += x
		}
		sums[i] = s0 + s1 + s2 + s3
	})
	for _, s := range sums {
		sum += s
	}
	return sum
}

// Bandwidth is the speed of Read in bytes a second, the median of n readings.
func (m *Memory) Bandwidth(n int) float64 {
	speeds := make([]float64, 0, n)
	for range n {
		begin := time.Now()
		bytes := m.Read()
		speeds = append(speeds, float64(bytes)/time.Since(begin).Seconds())
	}
	return Summarize(speeds).Median
}
