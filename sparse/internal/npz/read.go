package npz

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Groups returns the sorted names of the sparse matrices in the archive r, which has size
// bytes. A matrix whose arrays have no prefix has the name "". If r is not an archive,
// the error is an *sparse.InputError without a file name.
func Groups(r io.ReaderAt, size int64) ([]string, error) {
	if err := given.Check("reader", r); err != nil {
		return nil, err
	}
	a, err := openArchive(r, size, "")
	if err != nil {
		return nil, err
	}
	return a.groups(), nil
}

// Read reads a matrix from the archive r, which has size bytes. It sorts rows and adds
// entries with the same position. As in SciPy, stored zeros remain entries, even inside the
// blocks of bsr; only those of dia are dropped.
//
// group is the name of the matrix if the archive holds several; "" means the only matrix,
// or the one without a prefix. name stands for the file in errors. Invalid input gives an
// *sparse.InputError. If ctx is cancelled, Read returns its error.
func Read(ctx context.Context, r io.ReaderAt, size int64, name, group string, lim sparse.Limits) (*sparse.CSR[float64], sparse.Source, error) {
	if err := given.Input(ctx, r); err != nil {
		return nil, sparse.Source{}, err
	}
	a, err := openArchive(r, size, name)
	if err != nil {
		return nil, sparse.Source{}, err
	}
	prefix, err := a.choose(group)
	if err != nil {
		return nil, sparse.Source{}, err
	}
	g := &groupReader{ctx: ctx, archive: a, prefix: prefix, limits: lim}
	m, err := g.read()
	g.close()
	if err != nil {
		return nil, sparse.Source{}, err
	}
	return m, sparse.Source{Field: g.field, Symmetry: sparse.General, Stored: g.stored}, nil
}

// groupReader reads the arrays of one matrix.
type groupReader struct {
	ctx context.Context
	*archive
	prefix string
	limits sparse.Limits
	opened []*array

	rows, cols int64
	bool       bool // values are bool
	field      sparse.Field
	stored     int64
}

func (g *groupReader) read() (*sparse.CSR[float64], error) {
	format, err := g.format()
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(g.shape(), g.checkFill()); err != nil {
		return nil, err
	}
	if format, err = g.compressedFormat(format); err != nil {
		return nil, err
	}
	var m *sparse.CSR[float64]
	switch format {
	case "csr":
		m, err = g.compressed(g.rows, g.cols, "column", false)
	case "csc":
		m, err = g.compressed(g.cols, g.rows, "row", true)
	case "coo":
		m, err = g.coordinates()
	case "bsr":
		m, err = g.blocks()
	case "dia":
		m, err = g.diagonals()
	default:
		return nil, sparse.Inputf(g.name, "sparse format %q is not supported, only csr, csc, coo, bsr, dia and gcxs are: convert the matrix with its method tocsr()", clip(format))
	}
	if err == nil && g.bool {
		for k, v := range m.Val {
			m.Val[k] = min(v, 1) // true and true is true
		}
	}
	return m, err
}

// open opens an array of the group.
func (g *groupReader) open(key string) (*array, error) {
	x, err := g.archive.open(g.prefix + key)
	if err == nil {
		g.opened = append(g.opened, x)
	}
	return x, err
}

func (g *groupReader) close() {
	for _, x := range g.opened {
		x.r.Close()
	}
}

// integers opens an array of integers with dims dimensions.
func (g *groupReader) integers(key string, dims int) (*array, error) {
	x, err := g.open(key)
	if err != nil {
		return nil, err
	}
	if !x.dtype.integer() {
		return nil, x.failf("holds items of type %s: must be integers", x.dtype.name)
	}
	return x, x.wantDims(dims)
}

// numbers opens the values and sets the field of the matrix.
func (g *groupReader) numbers(dims int) (*array, error) {
	x, err := g.open("data")
	if err != nil {
		return nil, err
	}
	if x.dtype.kind == 'S' || x.dtype.kind == 'U' {
		return nil, x.failf("holds text (%s): must be numbers", clip(x.dtype.name))
	}
	g.field, g.bool = x.dtype.field(), x.dtype.kind == 'b'
	return x, x.wantDims(dims)
}

func (x *array) wantDims(dims int) error {
	if len(x.shape) != dims {
		return x.failf("has the shape %v: must have %d dimensions", x.shape, dims)
	}
	return nil
}

// format returns the name of the sparse format.
func (g *groupReader) format() (string, error) {
	if g.member[g.prefix+"format"] == nil {
		switch {
		case g.member[g.prefix+"indptr"] != nil:
			return "csr", nil
		case g.member[g.prefix+"offsets"] != nil:
			return "dia", nil
		}
		return "coo", nil
	}
	x, err := g.open("format")
	if err != nil {
		return "", err
	}
	const longest = 64
	if k := x.dtype.kind; k != 'S' && k != 'U' || x.items() != 1 || x.bytes() > longest {
		return "", x.failf("has the shape %v and type %s: must be one short string such as csr", x.shape, clip(x.dtype.name))
	}
	b := make([]byte, x.bytes())
	if err := full(x.r, b); err != nil {
		return "", x.fail(err)
	}
	if err := x.finish(); err != nil {
		return "", err
	}
	if x.dtype.kind == 'U' {
		var s []byte
		for k := 0; k < len(b); k += 4 {
			s = utf8.AppendRune(s, rune(x.dtype.order.Uint32(b[k:])))
		}
		b = s
	}
	return strings.TrimRight(string(b), "\x00"), nil
}

// shape reads the dimensions of the matrix.
func (g *groupReader) shape() error {
	x, err := g.integers("shape", 1)
	if err != nil {
		return err
	}
	if n := x.items(); n != 2 {
		return x.failf("holds %d sizes: only matrices, which have 2, are supported", n)
	}
	size, err := x.ints(g.ctx)
	if err != nil {
		return err
	}
	g.rows, g.cols = size[0], size[1]
	return nil
}

// checkDims checks the dimensions of the matrix against the number of its entries.
func (g *groupReader) checkDims(data *array, entries int64) error {
	if err := g.limits.CheckDims(g.name, 0, g.rows, g.cols, entries); err != nil {
		return err
	}
	if entries > 0 && (g.rows == 0 || g.cols == 0) {
		return data.failf("holds %d values for a matrix of %d rows and %d columns", entries, g.rows, g.cols)
	}
	return nil
}

// both reads indices and values concurrently.
func (g *groupReader) both(index func() ([]int32, error), data *array) (idx []int32, val []float64, err error) {
	var errs [2]error
	par.Do(2, func(i int) {
		if i == 0 {
			idx, errs[0] = index()
		} else {
			val, errs[1] = data.values(g.ctx)
		}
	})
	if errs[0] != nil {
		return nil, nil, errs[0]
	}
	return idx, val, errs[1]
}

// note sets the number of stored entries and, if all values are the bool true, the field
// Pattern.
func (g *groupReader) note(val []float64) {
	g.stored = int64(len(val))
	if g.bool && !slices.Contains(val, 0) {
		g.field = sparse.Pattern
	}
}

func (g *groupReader) assemble(row, col []int32, val []float64) *sparse.CSR[float64] {
	chunks := []sparse.Triples[float64]{{Row: row, Col: col, Val: val}}
	return sparse.Assemble(int(g.rows), int(g.cols), sparse.General, chunks)
}
