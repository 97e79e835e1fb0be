package edges

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// Header says whether a list begins with a line that names its columns.
type Header string

// These are the values of Header.
const (
	HeaderAuto    Header = ""        // found from the first lines
	HeaderPresent Header = "present" // the first line is a header
	HeaderAbsent  Header = "absent"  // the first line is an edge
)

// Options controls Read.
type Options struct {
	Separator byte   // separator of fields; ' ' means any number of spaces and tabs; 0 means found from the first lines
	Likely    byte   // separator that is used where the first lines do not tell; 0 means ' '
	Header    Header // whether there is a header
	Weighted  bool   // the third field is the weight if no header names another one weight
}

func (o Options) check() error {
	switch s := o.Separator; {
	case s == '"' || s == '#' || s == '%' || s == '\n' || s == '\r' || s >= 0x80:
		return sparse.Inputf("separator", "%q is not supported: use one ASCII character that is no quote and starts no comment", rune(s))
	case o.Header != HeaderAuto && o.Header != HeaderPresent && o.Header != HeaderAbsent:
		return sparse.Inputf("header", "%q is not known: use %s, %s or nothing", string(o.Header), HeaderPresent, HeaderAbsent)
	}
	return nil
}

// List is an edge list.
type List struct {
	Matrix *sparse.CSR[float64] // columns are sorted and distinct in each row
	Source sparse.Source        // Stored counts the edges, repeated ones included
	IDs    []string             // the id of each node
}

// Read reads an edge list. name stands for the file in errors. Invalid content gives an
// *sparse.InputError with a line, and so does a list that does not fit into memory. If ctx
// ends, Read returns its error.
func Read(ctx context.Context, r io.Reader, name string, opt Options, lim sparse.Limits) (*List, error) {
	if err := errors.Join(given.Input(ctx, r), opt.check()); err != nil {
		return nil, err
	}
	in := lines.NewReader(r, name)
	l, err := readHead(in, name, opt)
	if err != nil {
		return nil, err
	}
	m := merger{name: name, lim: lim, most: sparse.MaxDim}
	p := parser{layout: l, name: name}
	if err := lines.Each(ctx, in, p.parse, m.take); err != nil {
		return nil, err
	}
	if m.stored == 0 {
		return nil, sparse.InputLinef(name, l.first, "file ends without an edge")
	}
	n := len(m.table.ids)
	if err := m.fits(); err != nil {
		return nil, err
	}
	list := &List{Source: sparse.Source{Field: sparse.Pattern, Symmetry: sparse.General, Stored: m.stored}, IDs: m.table.ids}
	m.table.slots = nil
	if l.weight > 0 {
		list.Source.Field = sparse.Real
	}
	m.inexact.Apply(&list.Source)
	if l.note != "" {
		source.AddNote(&list.Source, l.note)
	}
	list.Matrix = sparse.Assemble(n, n, sparse.General, m.triples)
	if l.weight == 0 && list.Matrix.NNZ() < m.stored {
		val := list.Matrix.Val
		par.Range(int64(len(val)), 1<<16, func(lo, hi int64) { // repeated edges were added
			for k := lo; k < hi; k++ {
				val[k] = 1
			}
		})
	}
	return list, nil
}

// parser parses chunks; several goroutines may use it.
type parser struct {
	layout
	name string
}

// chunk is the edges of one chunk, up to the first error. Its nodes are numbers in names.
type chunk struct {
	sparse.Triples[float64]
	names   *table // its ids are parts of the text
	inexact source.Inexact
	err     error
}

// tables reuses the tables of chunks.
var tables = sync.Pool{New: func() any { return new(table) }}

// parse parses the edges of a chunk.
func (p *parser) parse(c lines.Chunk) chunk {
	b, line := c.Data, c.Line
	x := chunk{names: tables.Get().(*table)}
	t := lines.NewTriples(c, p.weight > 0)
	count := 0
	for at := 0; at < len(b); line++ {
		if empty(b, at) {
			at += bytes.IndexByte(b[at:], '\n') + 1
			continue
		}
		start, fields := at, 0
		var node [2]int32
		var weight float64
		for last := false; !last && x.err == nil; fields++ {
			f := field(b, at, p.separator)
			if at, last = f.next, f.last; f.fault != "" {
				x.err = p.errorf(line, "%s: %.60q", f.fault, lines.First(b[start:]))
			} else if fields < 2 {
				node[fields], x.err = p.node(x.names, f.text, line)
			} else if fields == p.weight {
				weight, x.err = p.number(f.text, line, &x.inexact)
			}
		}
		if x.err == nil && fields != p.fields {
			x.err = p.errorf(line, "edge has %d fields, %d, as in line %d, are needed: %.60q", fields, p.fields, p.first, lines.First(b[start:]))
		}
		if x.err != nil {
			break
		}
		t.Row[count], t.Col[count] = node[0], node[1]
		if p.weight > 0 {
			t.Val[count] = weight
		}
		count++
	}
	x.Triples = lines.Cut(t, count)
	return x
}

func (p *parser) errorf(line int64, format string, args ...any) error {
	return sparse.InputLinef(p.name, line, format, args...)
}

// node returns the number of an id in names.
func (p *parser) node(names *table, id []byte, line int64) (int32, error) {
	if len(id) == 0 {
		return 0, p.errorf(line, "a node id is empty")
	}
	if bytes.IndexByte(id, 0) >= 0 {
		return 0, p.errorf(line, "a node id has a zero byte: this is not a text: %.40q", id)
	}
	k, _ := names.number(unsafe.String(&id[0], len(id)))
	return k, nil
}

// number returns a weight.
func (p *parser) number(text []byte, line int64, inexact *source.Inexact) (float64, error) {
	v, err := number.Float(text)
	if err == number.ErrRange {
		var n int
		if v, n = number.ScanBeyond(text); n == len(text) {
			inexact.Merge(source.Inexact{Infinite: line})
			return v, nil
		}
	}
	if err != nil || math.IsNaN(v) {
		return 0, p.errorf(line, "weight %.40q is not a number", text)
	}
	return v, nil
}

// merger joins the chunks, one at a time and in order.
type merger struct {
	name    string
	lim     sparse.Limits
	most    int // largest number of nodes
	table   table
	triples []sparse.Triples[float64]
	stored  int64
	inexact source.Inexact
}

// take adds the edges of a chunk, with the numbers of their nodes in the whole list.
func (m *merger) take(c lines.Chunk, x chunk) error {
	defer func() {
		x.names.clear()
		tables.Put(x.names)
	}()
	before := len(m.table.ids)
	numbers := make([]int32, len(x.names.ids))
	size := 0
	for k, id := range x.names.ids {
		var fresh bool
		if numbers[k], fresh = m.table.number(id); fresh {
			size += len(id)
		}
	}
	m.own(before, size)
	if n := len(m.table.ids); n > m.most {
		return sparse.InputLinef(m.name, c.Line, "more than %d nodes up to the %d lines from here on are not supported", m.most, c.Count)
	}
	for _, nodes := range [][]int32{x.Row, x.Col} {
		for k, i := range nodes {
			nodes[k] = numbers[i]
		}
	}
	if len(x.Row) > 0 {
		m.triples = append(m.triples, x.Triples)
		m.stored += int64(len(x.Row))
	}
	m.inexact.Merge(x.inexact)
	if x.err == nil && len(m.triples)%16 == 0 {
		return m.fits()
	}
	return x.err
}

// own copies the ids from number k on, which are parts of the text of a chunk. size is their
// length in all.
func (m *merger) own(k, size int) {
	var all strings.Builder
	all.Grow(size)
	for _, id := range m.table.ids[k:] {
		all.WriteString(id)
	}
	text := all.String()
	for i, id := range m.table.ids[k:] {
		m.table.ids[k+i], text = text[:len(id)], text[len(id):]
	}
}

func (m *merger) fits() error {
	return m.lim.CheckMemory(m.name, 0, int64(len(m.table.ids)), m.stored, sparse.EntryBytes)
}
