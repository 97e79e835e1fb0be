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
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/internal/bincsr"
	"github.com/msrep-go/msrep/sparse/internal/edges"
	"github.com/msrep-go/msrep/sparse/internal/hb"
	"github.com/msrep-go/msrep/sparse/internal/snap"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// Matrix is a matrix and its origin. It is a sparse.Matrix, so plans accept it. Close it
// when it is no longer needed.
type Matrix struct {
	*sparse.CSR[float64]
	Source     sparse.Source
	Name       string // as given to Read
	FileFormat Format // format of the content
	// IDs are the node ids of the rows and columns, in ascending order, of an edge list
	// that was renumbered and whose ids have gaps. Otherwise it is nil: row k is node k.
	IDs []int64
	// Names are the node ids of a .csv or .tsv edge list: row and column k are node
	// Names[k]. For other files it is nil.
	Names []string

	close func() error // unmaps the file; nil if it is not mapped
}

// Close unmaps the file of an .msr matrix, whose arrays must not be used afterwards. For
// other matrices, and when called again, it does nothing.
func (m *Matrix) Close() error {
	if m == nil || m.close == nil {
		return nil
	}
	err := m.close()
	m.close = nil
	return err
}

// Option is an option of Read.
type Option func(*options)

type options struct {
	limits        sparse.Limits
	skipChecksums bool
	renumber      bool
	edges         EdgeOptions
}

// WithLimits bounds the memory that Read allocates because of sizes that a file declares.
func WithLimits(l sparse.Limits) Option { return func(o *options) { o.limits = l } }

// SkipChecksums skips the checksums of a mapped .msr file, so opening the file need not
// read its values. Indices are checked in any case.
func SkipChecksums() Option { return func(o *options) { o.skipChecksums = true } }

// Renumber numbers only the node ids that occur in an edge list (see Matrix.IDs). It has
// no effect on other files.
func Renumber() Option { return func(o *options) { o.renumber = true } }

// WithEdges says how a .csv or .tsv edge list is written. It has no effect on other files.
func WithEdges(opt EdgeOptions) Option { return func(o *options) { o.edges = opt } }

// Read reads the matrix at path: a file of any known format, or a generator spec
// gen:NAME:key=value,... (see the package comment). Columns are sorted and distinct in
// every row, except in .msr and .bin files, which keep the order in which they were
// written.
//
// Read returns a *sparse.InputError for a name of unknown format, for invalid content, and
// for a file that is missing, empty, a directory or not readable. If ctx ends first, Read
// returns its error.
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
	f.ReportTo(ctx)
	in, head, err := peek(f, "a matrix file")
	if err != nil {
		return err
	}
	if err := checkPacking(head, file); err != nil {
		return err
	}
	inner := file // name of the content
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
	case EdgeList:
		var list *edges.List
		if list, err = readEdges(ctx, in, inner, f.Title(), o.edges, o.limits); err == nil {
			m.CSR, m.Source, m.Names = list.Matrix, list.Source, list.IDs
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

// peek returns a reader of the whole content, and its first bytes. needed names what an empty file does not hold.
func peek(f *fileio.File, needed string) (*bufio.Reader, []byte, error) {
	in := bufio.NewReaderSize(f, 1<<16)
	head, err := in.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if len(head) == 0 {
		return nil, nil, sparse.Inputf(f.Name, "is empty; %s is needed", needed)
	}
	return in, head, nil
}

// splitGroup splits FILE.npz#GROUP at the last #, unless there is a file with the whole
// name.
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
