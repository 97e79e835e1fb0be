package bench

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// TriangularPeers times solves with triangular matrices in binary CSR files (package bincsr) on one CPU device. It
// prints the columns that the drivers of other libraries print, so both can run alternately and be compared.
type TriangularPeers struct {
	Dir        string // folder of files *.bin; a matrix with an entry above its diagonal counts as upper
	Transposed bool
	Threads    []int
	Reps       int // timed solves, after three untimed ones; a disturbed solve is repeated
}

// Run prints one line for each file and number of threads, and returns the times:
//
//	name msrep threads median-seconds GFLOP/s GB/s min=s runs=undisturbed/all levels=n prep=s form=...
//
// The median is as in CPUPeers.Run. GFLOP/s counts two operations for each entry. GB/s counts 12 bytes for each entry, 4
// for each row pointer, and 8 for each element of b and x. The diagonal counts as 1 if all its elements are.
func (c TriangularPeers) Run(ctx context.Context, w io.Writer) (times []PeerTime, err error) {
	files, err := filepath.Glob(filepath.Join(c.Dir, "*.bin"))
	if err != nil || len(files) == 0 {
		return nil, sparse.Inputf(c.Dir, "must be a folder with *.bin files of triangular matrices in binary CSR, as msrep convert writes them; it has none")
	}
	for _, f := range files {
		m, err := matio.Read(ctx, f)
		if err != nil {
			return times, err
		}
		for _, threads := range c.Threads {
			t, err := c.time(ctx, w, strings.TrimSuffix(filepath.Base(f), ".bin"), m.CSR, threads)
			if err != nil {
				return times, fmt.Errorf("%s: %w", f, err)
			}
			times = append(times, t)
		}
		if err := m.Close(); err != nil {
			return times, err
		}
	}
	return times, nil
}

// time times the solves with one matrix.
func (c TriangularPeers) time(ctx context.Context, w io.Writer, name string, a *sparse.CSR[float64], threads int) (out PeerTime, err error) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", Threads: threads})
	if err != nil {
		return out, err
	}
	defer sys.Close()
	begin := time.Now()
	t, err := msrep.NewTriangular[float64](ctx, sys, a, triangleOf(a))
	if err != nil {
		return out, err
	}
	defer t.Close()
	op := msrep.Transpose(c.Transposed)
	b, x := make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range b {
		b[i] = 1
	}
	solve := func() error { return t.Solve(ctx, op, 1, b, x) }
	if err := solve(); err != nil { // may store the transposed triangle
		return out, err
	}
	prep := time.Since(begin)
	for range 2 {
		if err := solve(); err != nil {
			return out, err
		}
	}
	runs, err := timeUndisturbed(c.Reps, solve, interrupted)
	if err != nil {
		return out, err
	}
	median := runs.typical().Seconds()
	bytes := 12*a.NNZ() + 4*int64(a.Rows+1) + 16*int64(a.Rows)
	out.Matrix, out.Library, out.Threads, out.Values, out.Seconds = name, ownName, threads, "as is, fp64", median
	out.Bytes, out.GFLOPs = bytes, 2*float64(a.NNZ())/median*1e-9
	info := t.Info()
	_, err = fmt.Fprintf(w, "%-12s %-18s %d %.9f %7.3f %7.2f  min=%.9f runs=%s levels=%d prep=%.6f form=%s (%s)\n", name, ownName, threads, median,
		out.GFLOPs, float64(bytes)/median*1e-9, runs.times[0].Seconds(), runs, info.Levels, prep.Seconds(), info.Devices[0].Form, info.Devices[0].Why)
	return out, err
}

// triangleOf returns which triangle a matrix is.
func triangleOf(a *sparse.CSR[float64]) (o msrep.TriangularOptions) {
	o.Unit = true
	for row := range a.Rows {
		diagonal := 0.0
		for k := a.RowPtr[row]; k < a.RowPtr[row+1]; k++ {
			switch col := int(a.ColIdx[k]); {
			case col > row:
				o.Upper = true
			case col == row:
				diagonal += a.Val[k]
			}
		}
		o.Unit = o.Unit && diagonal == 1
	}
	return o
}
