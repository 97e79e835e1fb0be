package npz

import "github.com/msrep-go/msrep/sparse"

// The package sparse of PyData writes its classes COO and GCXS with the array names of
// SciPy and two more. Version 0.19 also writes the array format, coo or gcxs; version
// 0.15 does not.
const (
	axesKey = "compressed_axes" // for GCXS: [0] means csr, [1] csc
	fillKey = "fill_value"      // the value of all entries that are not stored, which must be 0
)

// compressedFormat returns csr or csc for gcxs. It returns other formats unchanged, and
// an error if the compressed axis contradicts them.
func (g *groupReader) compressedFormat(format string) (string, error) {
	if g.member[g.prefix+axesKey] == nil {
		if format == "gcxs" {
			return "", sparse.Inputf(g.name, "the array %s is missing, which the format gcxs needs", clip(g.prefix+axesKey))
		}
		return format, nil
	}
	if format != "gcxs" && format != "csr" && format != "csc" {
		return format, nil
	}
	x, err := g.integers(axesKey, 1)
	if err != nil {
		return "", err
	}
	if n := x.items(); n != 1 {
		return "", x.failf("holds %d axes: a matrix has one, 0 for rows or 1 for columns", n)
	}
	axes, err := x.ints(g.ctx)
	if err != nil {
		return "", err
	}
	if axes[0] != 0 && axes[0] != 1 {
		return "", x.failf("is %d: it must be 0 for rows or 1 for columns", axes[0])
	}
	meant := []string{"csr", "csc"}[axes[0]]
	if g.member[g.prefix+"format"] != nil && format != "gcxs" && format != meant {
		return "", x.failf("is %d, which means %s, but the format is %s", axes[0], meant, format)
	}
	return meant, nil
}

// checkFill refuses a matrix whose entries that are not stored are not 0.
func (g *groupReader) checkFill() error {
	if g.member[g.prefix+fillKey] == nil {
		return nil
	}
	x, err := g.open(fillKey)
	if err != nil {
		return err
	}
	if k := x.dtype.kind; x.items() != 1 || k == 'S' || k == 'U' {
		return x.failf("has the shape %v and type %s: must be one number", x.shape, clip(x.dtype.name))
	}
	fill, err := x.values(g.ctx)
	if err != nil {
		return err
	}
	if fill[0] != 0 {
		return x.failf("is %v: entries that are not stored must be 0", fill[0])
	}
	return nil
}
