package model

import (
	"slices"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Part is the part of a matrix on one GPU.
type Part struct {
	NNZ    int64
	Majors int64
	// Gather is the memory traffic of reading x in a kernel, in bytes, as function Gather counts it; 0 if the
	// calibrated slowdown includes it.
	Gather int64
	// Carry is true if the first row began in an earlier part, which a partial sum is added to at the end.
	Carry bool
}

// Job is a product on the first len(Parts) GPUs of a platform.
type Job struct {
	Matrix     string // names its calibrated kernel
	Format     sparse.Format
	Rows, Cols int64
	Parts      []Part
}

// even returns the job of a matrix of known size, split evenly.
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

// Of returns the job of a matrix that was split for real.
func Of(name string, format sparse.Format, rows, cols int, parts []partition.Part) Job {
	j := Job{Matrix: name, Format: format, Rows: int64(rows), Cols: int64(cols)}
	for _, p := range parts {
		j.Parts = append(j.Parts, Part{NNZ: p.NNZ(), Majors: int64(p.Majors()), Carry: p.StartFlag})
	}
	return j
}

// matrixBytes returns the bytes of part i in its format: 8 for a value, 4 for an index or pointer.
func (j Job) matrixBytes(i int) float64 {
	p := j.Parts[i]
	if j.Format == sparse.FormatCOO {
		return 16 * float64(p.NNZ)
	}
	return 12*float64(p.NNZ) + 4*float64(p.Majors)
}

// inBytes returns the bytes that GPU i receives for a product: its part and its vector elements. A part of rows needs
// x and its rows of y; a part of columns needs its elements of x.
func (j Job) inBytes(i int) float64 {
	majors := 8 * float64(j.Parts[i].Majors)
	if j.Format == sparse.FormatCSC {
		return j.matrixBytes(i) + majors
	}
	return j.matrixBytes(i) + 8*float64(j.Cols) + majors
}

// authorsInBytes is inBytes for the program of the authors, which also copies all of y to each GPU in CSC.
func (j Job) authorsInBytes(i int) float64 {
	if j.Format == sparse.FormatCSC {
		return j.inBytes(i) + 8*float64(j.Rows)
	}
	return j.inBytes(i)
}

// outBytes returns the bytes of the result of GPU i.
func (j Job) outBytes(i int) float64 {
	if j.Format == sparse.FormatCSC {
		return 8 * float64(j.Rows)
	}
	return 8 * float64(j.Parts[i].Majors)
}

// carries reports whether a part has a partial sum for an earlier one.
func (j Job) carries() bool {
	return slices.ContainsFunc(j.Parts, func(p Part) bool { return p.Carry })
}

// streamed returns the bytes that the kernel of part i reads and writes in order.
func (j Job) streamed(i int) float64 {
	p := j.Parts[i]
	return 12*float64(p.NNZ) + 20*float64(p.Majors)
}

// Resized returns the job scaled to the given numbers of rows, columns and entries, divided in the same proportions.
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
