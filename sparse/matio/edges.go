package matio

import (
	"context"
	"io"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/edges"
)

// Header says whether an edge list begins with a line that names its columns.
type Header = edges.Header

// These are the values of Header.
const (
	HeaderAuto    = edges.HeaderAuto    // found from the first lines
	HeaderPresent = edges.HeaderPresent // the first line is a header
	HeaderAbsent  = edges.HeaderAbsent  // the first line is an edge
)

// EdgeOptions says how an edge list is written. The zero value suits most lists.
type EdgeOptions struct {
	// Separator separates the fields of a line. ' ' means any number of spaces and tabs. 0
	// means a tab, a semicolon, a comma or spaces: the first of these that splits all of the
	// first lines into the same number of fields.
	Separator byte
	// Header says whether the first line names the columns. HeaderAuto takes it as a header
	// if a field after the second is "weight", if it has texts where the lines after it have
	// numbers, or if both of its first fields are usual names of columns, such as source and
	// target; Source.Note reports the last case.
	Header Header
	// Weighted takes the third field as the weight. Without it, the field that a header
	// names weight is the weight, and edges have no weights if there is none.
	Weighted bool
}

// Edges is an edge list. Row and column k of the matrix are the node IDs[k]. Ids are in the
// order in which they first appear, also if they are numbers.
type Edges struct {
	Matrix *sparse.CSR[float64] // a[i][j] is the weight of the edge from i to j, or 1
	Source sparse.Source        // Stored counts the edges, repeated ones included
	IDs    []string
}

// ReadEdges reads an edge list: one edge in each line, with the ids of two nodes in the
// first two fields, and a weight if opt or the header says so. Other fields are not used.
// Fields are separated by commas, tabs, semicolons or spaces, and may be in double quotes as
// in CSV; a field must end on its line. Blank lines, and lines that begin with # or %, are
// skipped. The file may be compressed by gzip or zstd.
//
// Without weights, an edge that is repeated counts once, with the value 1. With weights,
// those of a repeated edge are added.
//
// Wrong content gives an *sparse.InputError with file and line: a line with another number
// of fields than the first, an empty id, a weight that is no number. If ctx ends first,
// ReadEdges returns its error.
func ReadEdges(ctx context.Context, path string, opt EdgeOptions) (*Edges, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	f, err := fileio.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, head, err := peek(f, "an edge list")
	if err != nil {
		return nil, err
	}
	if err := checkPacking(head, path); err != nil {
		return nil, err
	}
	inner := path
	if f.Entry != "" {
		inner = f.Entry
	}
	switch format := byContent(head, inner); format {
	case MatrixMarket, MSR, NPZ, HarwellBoeing, BinaryCSR:
		return nil, sparse.Inputf(f.Title(), "is a file of format %s, not an edge list: read it with Read", format)
	}
	list, err := readEdges(ctx, in, inner, f.Title(), opt, sparse.Limits{})
	if err != nil {
		return nil, err
	}
	return &Edges{Matrix: list.Matrix, Source: list.Source, IDs: list.IDs}, nil
}

// readEdges reads an edge list from in. path is the name of the content, title stands for it
// in errors.
func readEdges(ctx context.Context, in io.Reader, path, title string, opt EdgeOptions, lim sparse.Limits) (*edges.List, error) {
	o := edges.Options{Separator: opt.Separator, Header: opt.Header, Weighted: opt.Weighted}
	switch extension(path) {
	case ".csv":
		o.Likely = ','
	case ".tsv":
		o.Likely = '\t'
	}
	return edges.Read(ctx, in, title, o, lim)
}
