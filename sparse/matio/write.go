package matio

import (
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
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
	if strings.HasPrefix(path, "gen:") {
		return sparse.Inputf(path, "names a generator; a file name is needed to write to")
	}
	format := byName(path)
	if format == "" {
		return unknown(path)
	}
	if err := m.Validate(); err != nil {
		return err
	}
	out, err := fileio.Create(path)
	if err != nil {
		return &sparse.InputError{Err: err} // the message names the file
	}
	defer out.Close() // drops what is not committed
	switch format {
	case MatrixMarket:
		err = mtx.Write(out, m, src)
	case HarwellBoeing:
		err = hb.Write(out, m, src)
	case SNAP:
		err = snap.Write(out, m, src)
	case NPZ:
		err = npz.Write(out, m)
	case MSR:
		err = msr.Write(out, m, src)
	}
	if err != nil && !sparse.IsInput(err) {
		err = fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	if err != nil {
		return err
	}
	return out.Commit()
}
