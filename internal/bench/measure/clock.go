package measure

import (
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// clockCost returns the seconds that a reading of the clock takes: the least of many consecutive readings.
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

// Memory is an array larger than the caches of most machines, for measuring the memory bandwidth and emptying the
// caches. The caller must Free it.
type Memory struct {
	region *mem.Region
	words  []float64
	sum    float64 // result of the reads, which keeps the compiler from removing them
}

// NewMemory allocates bytes of memory, rounded down to a multiple of 64, outside the Go heap.
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

// Free frees the memory.
func (m *Memory) Free() error { return m.region.Free() }

// Read reads all of the memory once, like Sum, and returns the number of bytes.
func (m *Memory) Read() int64 {
	m.sum += Sum(m.words)
	return int64(8 * len(m.words))
}

// Sum adds up v on all cores. Each core reads four streams, because one stream does not reach the memory's bandwidth.
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

// Bandwidth returns the speed of Read in bytes per second: the median of n readings.
func (m *Memory) Bandwidth(n int) float64 {
	speeds := make([]float64, 0, n)
	for range n {
		begin := time.Now()
		bytes := m.Read()
		speeds = append(speeds, float64(bytes)/time.Since(begin).Seconds())
	}
	return Summarize(speeds).Median
}
