package measure

import (
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// ClockCost is how many seconds it takes to read the clock, the least of many
// readings in a row.
func ClockCost() float64 {
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
	sums   []float64
}

// NewMemory takes bytes of memory outside the Go heap, rounded down to 64.
func NewMemory(bytes int64) (*Memory, error) {
	r, err := mem.New(max(bytes/64, 1) * 64)
	if err != nil {
		return nil, err
	}
	words, _ := mem.Slice[float64](r.Bytes(), max(bytes/64, 1)*8)
	m := &Memory{region: r, words: words, sums: make([]float64, 8*par.Workers(int64(len(words)), 1))}
	par.Range(int64(len(words)), 1<<12, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			words[i] = 1
		}
	})
	return m, nil
}

// Free gives the memory back.
func (m *Memory) Free() error { return m.region.Free() }

// Read reads all of the memory once on all cores and gives the bytes it read.
// Each core reads four streams: one alone does not reach the memory's speed.
func (m *Memory) Read() int64 {
	w := len(m.sums) / 8
	par.Do(w, func(i int) {
		piece := m.words[par.Cut(int64(len(m.words)), w, i):par.Cut(int64(len(m.words)), w, i+1)]
		q := len(piece) / 4
		a, b, c, d := piece[:q], piece[q:2*q], piece[2*q:3*q], piece[3*q:4*q]
		var s0, s1, s2, s3 float64
		for k := range a {
			s0 += a[k]
			s1 += b[k]
			s2 += c[k]
			s3 += d[k]
		}
		m.sums[8*i] = s0 + s1 + s2 + s3
	})
	return int64(8 * len(m.words))
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
