package matio

import (
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/bincsr"
	"github.com/msrep-go/msrep/sparse/hb"
	"github.com/msrep-go/msrep/sparse/msr"
	"github.com/msrep-go/msrep/sparse/mtx"
	"github.com/msrep-go/msrep/sparse/npz"
	"github.com/msrep-go/msrep/sparse/snap"
)

// Write writes m to the file path, in the format that its name stands for,
// gzipped where the name ends in .gz. src says what the matrix was made of;
// formats that know symmetry and field keep them. A file of that name is
// replaced, but only when the new one is complete.
//
// A name of unknown format, a matrix that is not valid or that the format cannot
// hold, and a place that cannot be written to are *sparse.InputError. When
// writing fails later, for example because the disk is full, the error is not.
func Write(path string, m *sparse.CSR[float64], src sparse.Source) error {
	out, err := Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	return out.Write(m, src)
}

// Output is a matrix file to be written.
type Output struct {
	path   string
	format Format
	out    *fileio.Out
}

// Create starts the file path, so that a wrong name or place is found before the
// matrix is made. The file appears when Write is done; Close drops it otherwise.
// Errors are *sparse.InputError.
func Create(path string) (*Output, error) {
	if strings.HasPrefix(path, "gen:") {
		return nil, sparse.Inputf(path, "names a generator; a file name is needed to write to")
	}
	format := byName(path)
	if format == "" {
		return nil, unknown(path)
	}
	out, err := fileio.Create(path)
	if err != nil {
		return nil, &sparse.InputError{Err: err} // the message names the file
	}
	return &Output{path, format, out}, nil
}

// Close drops the file unless Write has completed it.
func (o *Output) Close() error {
	if o == nil || o.out == nil {
		return nil
	}
	return o.out.Close()
}

// Format is the format of the file.
func (o *Output) Format() Format { return o.format }

// Write writes the matrix and completes the file; see the function Write.
func (o *Output) Write(m *sparse.CSR[float64], src sparse.Source) error {
	if o == nil || o.out == nil {
		return sparse.Inputf("output", "was not made by Create")
	}
	if err := m.Validate(); err != nil {
		return err
	}
	var err error
	out := o.out
	switch o.format {
	case MatrixMarket:
		err = mtx.Write(out, m, src)
	case HarwellBoeing:
		err = hb.Write(out, m, src)
	case SNAP:
		err = snap.Write(out, m, src)
	case BinaryCSR:
		err = bincsr.Write(out, m)
	case NPZ:
		err = npz.Write(out, m)
	case MSR:
		err = msr.Write(out, m, src)
	}
	if err != nil {
		return err
	}
	return out.Commit()
}
