package matio

import (
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/bincsr"
	"github.com/msrep-go/msrep/sparse/internal/hb"
	"github.com/msrep-go/msrep/sparse/internal/npz"
	"github.com/msrep-go/msrep/sparse/internal/snap"
	"github.com/msrep-go/msrep/sparse/msr"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// Write writes m to the file path, in the format of its extension, compressed if the name ends
// in .gz or .zst. src describes the origin of the matrix; a format that states symmetry and field
// gets those of src. Write replaces an existing file, but only when the new one is
// complete.
//
// Write returns a *sparse.InputError for a name of unknown format, for a matrix that is not
// valid or that the format cannot hold, and for a path that cannot be written. Later
// errors, such as a full disk, are those of the system.
func Write(path string, m *sparse.CSR[float64], src sparse.Source) error {
	out, err := Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	return out.Write(m, src)
}

// Output is a matrix file that is being written.
type Output struct {
	path   string
	format Format
	out    *fileio.Out
}

// Create starts writing the file path, so a wrong name or place is reported before the
// matrix is computed. The file appears when Output.Write has succeeded; otherwise Close
// removes it. Errors are *sparse.InputError.
func Create(path string) (*Output, error) {
	if strings.HasPrefix(path, "gen:") {
		return nil, sparse.Inputf(path, "names a generator; a file name is needed to write to")
	}
	format := byName(path)
	switch format {
	case "":
		return nil, unknown(path)
	case EdgeList:
		return nil, sparse.Inputf(path, "files %s are only read: write an edge list to a file .txt", extension(path))
	}
	out, err := fileio.Create(path)
	if err != nil {
		return nil, &sparse.InputError{Err: err} // the message names the file
	}
	return &Output{path, format, out}, nil
}

// Close removes the file unless Write has completed it.
func (o *Output) Close() error {
	if o == nil || o.out == nil {
		return nil
	}
	return o.out.Close()
}

// Format returns the format of the file.
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
