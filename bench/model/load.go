package model

import (
	"slices"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Part is what one GPU gets of a matrix.
type Part struct {
	NNZ    int64
	Majors int64
	// Gather is the traffic in bytes that a kernel causes in memory to read x, as
	// Gather counts it; 0 where the calibrated slowdown has it.
	Gather int64
	// Carry says that the first row began in an earlier part, to which a partial sum is
	// added when all are done.
	Carry bool
}

// Job is a product on the first len(Parts) GPUs of a platform.
type Job struct {
	Matrix     string // for its calibrated kernel
	Format     sparse.Format
	Rows, Cols int64
	Parts      []Part
}

// even is a matrix of which only the size is known, split evenly.
func even(name string, format sparse.Format, rows, cols, nnz int64, gpus int) Job {
	j := Job{Matrix: name, Format: format, Rows: rows, Cols: cols}
	majors := rows
	if format == sparse.FormatCSC {
		majors = cols
	}
	for g := range int64(gpus) {
		cut := func(n int64) int64 { return n*(g+1)/int64(gpus) - n*g/int64(gpus) }
		j.Parts = append(j.Parts, Part{NNZ: cut(nnz), Majors: cut(majors)})
	}
	return j
}

// Of is a matrix that was split for real.
func Of(name string, format sparse.Format, rows, cols int, parts []partition.Part) Job {
	j := Job{Matrix: name, Format: format, Rows: int64(rows), Cols: int64(cols)}
	for _, p := range parts {
		j.Parts = append(j.Parts, Part{NNZ: p.NNZ(), Majors: int64(p.Majors()), Carry: p.StartFlag})
	}
	return j
}

// matrixBytes is what part i takes in its format: values of 8 bytes, indices and
// pointers of 4.
func (j Job) matrixBytes(i int) float64 {
	p := j.Parts[i]
	if j.Format == sparse.FormatCOO {
		return 16 * float64(p.NNZ)
	}
	return 12*float64(p.NNZ) + 4*float64(p.Majors)
}

// inBytes is what GPU i gets for a product: its part, and of the vectors what it
// needs. By rows that is x and its rows of y; by columns, its elements of x.
func (j Job) inBytes(i int) float64 {
	majors := 8 * float64(j.Parts[i].Majors)
	if j.Format == sparse.FormatCSC {
		return j.matrixBytes(i) + majors
	}
	return j.matrixBytes(i) + 8*float64(j.Cols) + majors
}

// outBytes is the result of GPU i.
func (j Job) outBytes(i int) float64 {
	if j.Format == sparse.FormatCSC {
		return 8 * float64(j.Rows)
	}
	return 8 * float64(j.Parts[i].Majors)
}

// carries says whether any part has a partial sum for an earlier one.
func (j Job) carries() bool {
	return slices.ContainsFunc(j.Parts, func(p Part) bool { return p.Carry })
}

// streamed is what the kernel of part i reads and writes in order.
func (j Job) streamed(i int) float64 {
	p := j.Parts[i]
	return 12*float64(p.NNZ) + 20*float64(p.Majors)
}

// Resized is the job with so many rows, columns and entries, shared out as before.
func (j Job) Resized(rows, cols, nnz int64) Job {
	var majors, entries int64
	for _, p := range j.Parts {
		majors, entries = majors+p.Majors, entries+p.NNZ
	}
	all := rows
	if j.Format == sparse.FormatCSC {
		all = cols
	}
	part := func(n, of, all int64) int64 { return int64(float64(n) / float64(max(of, 1)) * float64(all)) }
	out := Job{Matrix: j.Matrix, Format: j.Format, Rows: rows, Cols: cols}
	for _, p := range j.Parts {
		out.Parts = append(out.Parts, Part{NNZ: part(p.NNZ, entries, nnz), Majors: part(p.Majors, majors, all), Gather: part(p.Gather, entries, nnz), Carry: p.Carry})
	}
	return out
}
