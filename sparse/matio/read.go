package matio

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/bincsr"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/hb"
	"github.com/msrep-go/msrep/sparse/mtx"
	"github.com/msrep-go/msrep/sparse/snap"
)

// Matrix is a matrix with where it came from, and a sparse.Matrix: plans take it as it is.
// Close it when it is no longer needed.
type Matrix struct {
	*sparse.CSR[float64]
	Source     sparse.Source
	Name       string // as given to Read
	FileFormat Format // how it was read
	// IDs are the node ids of the rows and columns, rising, of an edge list that was renumbered and whose ids have gaps;
	// else nil: row k is node k.
	IDs []int64

	close func() error // releases the mapping; nil where there is none
}

// Close releases the file that an .msr matrix is mapped from; its arrays must
// not be used any more. For other matrices, and when called again, it does
// nothing.
func (m *Matrix) Close() error {
	if m == nil || m.close == nil {
		return nil
	}
	err := m.close()
	m.close = nil
	return err
}

// Option changes how Read works.
type Option func(*options)

type options struct {
	limits        sparse.Limits
	skipChecksums bool
	renumber      bool
}

// WithLimits bounds what may be allocated on the word of a file.
func WithLimits(l sparse.Limits) Option { return func(o *options) { o.limits = l } }

// SkipChecksums leaves out the checksums of an .msr file that is mapped, so
// that opening it need not read its values; indices are checked all the same.
func SkipChecksums() Option { return func(o *options) { o.skipChecksums = true } }

// Renumber has the nodes of an edge list be only the ids that occur (see Matrix.IDs). Other files are read as without it.
func Renumber() Option { return func(o *options) { o.renumber = true } }

// Read reads the matrix that path names: a file of any known format, or a
// generator spec gen:NAME:key=value,... (see the package comment). Columns are
// sorted and distinct in every row, except where an .msr or .bin file was written
// otherwise.
//
// Bad content, a name of unknown format, and a file that is missing, empty, a
// directory or not readable are *sparse.InputError; when ctx ends first its
// error is returned.
func Read(ctx context.Context, path string, opts ...Option) (*Matrix, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	m := &Matrix{Name: path}
	if err := m.read(ctx, path, o); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Matrix) read(ctx context.Context, path string, o options) (err error) {
	if spec, ok := strings.CutPrefix(path, "gen:"); ok {
		m.FileFormat = Generated
		m.CSR, m.Source, err = gen.GenerateContext(ctx, spec, 0)
		return err
	}
	file, group := splitGroup(path)
	f, err := fileio.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	in, head, err := peek(f)
	if err != nil {
		return err
	}
	if err := checkPacking(head, file); err != nil {
		return err
	}
	inner := file // what the name of the content is
	if f.Entry != "" {
		inner = f.Entry
	}
	m.FileFormat = byContent(head, inner)
	if group != "" && m.FileFormat != NPZ {
		return sparse.Inputf(path, "#%s picks a matrix of an .npz file, but %s is none", group, file)
	}
	switch m.FileFormat {
	case MatrixMarket:
		m.CSR, m.Source, err = mtx.Read(ctx, in, f.Title(), o.limits)
	case HarwellBoeing:
		m.CSR, m.Source, err = hb.Read(ctx, in, f.Title(), o.limits)
	case SNAP:
		if o.renumber {
			m.CSR, m.Source, m.IDs, err = snap.ReadRenumbered(ctx, in, f.Title(), o.limits)
		} else {
			m.CSR, m.Source, err = snap.Read(ctx, in, f.Title(), o.limits)
		}
	case BinaryCSR:
		m.CSR, m.Source, err = bincsr.Read(ctx, in, f.Title(), o.limits)
	case NPZ:
		err = m.readNPZ(ctx, f, in, group, o)
	case MSR:
		err = m.readMSR(ctx, f, in, o)
	default:
		err = unknown(f.Title())
	}
	return err
}

// peek gives a reader of all content and the first bytes of it.
func peek(f *fileio.File) (*bufio.Reader, []byte, error) {
	in := bufio.NewReaderSize(f, 1<<16)
	head, err := in.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if len(head) == 0 {
		return nil, nil, sparse.Inputf(f.Name, "is empty; a matrix file is needed")
	}
	return in, head, nil
}

// splitGroup cuts FILE.npz#GROUP at the last #. A file that has the whole name
// comes first.
func splitGroup(path string) (file, group string) {
	at := strings.LastIndexByte(path, '#')
	if at < 0 {
		return path, ""
	}
	if _, err := os.Stat(path); err == nil {
		return path, ""
	}
	if byName(path[:at]) != "" {
		return path[:at], path[at+1:]
	}
	return path, ""
}
