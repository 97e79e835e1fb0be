package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/msr"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// Read reads the matrix at path. Each rank reads its part, and never holds more of the matrix than this part. All
// ranks call Read and must see the same file. All ranks get the same error.
//
// Of a Matrix Market file, each rank parses a range of bytes and sends the entries to the ranks that own their rows;
// of a gzipped file, or one with an array, it reads everything and keeps a part. An .msr file is mapped, and each
// rank takes its rows. Other files are refused. The Note of the Source describes the rank's own part. The result has
// the same bits as matio.Read in one process.
//
// For a generator spec gen:NAME:... every rank generates the whole matrix and keeps its rows.
func Read(ctx context.Context, sys *System, path string, align Align) (*Matrix[float64], sparse.Source, error) {
	switch {
	case sys.none():
		return nil, sparse.Source{}, errNoSystem
	case ctx == nil:
		return nil, sparse.Source{}, given.Context(ctx)
	}
	if spec, ok := strings.CutPrefix(path, "gen:"); ok {
		a, src, err := gen.GenerateContext(ctx, spec, 0)
		if err := sys.Agree(err); err != nil {
			return nil, src, err
		}
		m, err := Slice(sys.comm, a, align)
		return m, src, sys.Agree(err)
	}
	if err := sys.sameFile(path); err != nil {
		return nil, sparse.Source{}, err
	}
	isMSR, err := sniff(path)
	if err := sys.Agree(err); err != nil {
		return nil, sparse.Source{}, err
	}
	if isMSR {
		return readMSR(ctx, sys, path, align)
	}
	return readMTX(ctx, sys, path, align)
}

// sniff distinguishes an .msr file from a Matrix Market file by its content.
func sniff(path string) (isMSR bool, err error) {
	f, err := fileio.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	switch head = head[:n]; {
	case mtx.HasBanner(head):
		return false, nil
	case !bytes.HasPrefix(head, []byte(msr.Magic)):
		return false, sparse.Inputf(path, "ranks read parts of .mtx and .msr files only: convert it with msrep convert")
	case !f.Plain():
		return true, sparse.Inputf(path, "a gzipped .msr file, or one in an archive, can't be read in parts: unpack it first")
	}
	return true, nil
}

func readMSR(ctx context.Context, sys *System, path string, align Align) (*Matrix[float64], sparse.Source, error) {
	h, err := msr.Peek(path)
	if err == nil {
		err = msr.VerifyPart(ctx, path, sys.comm.Rank(), sys.comm.Size())
	}
	if err := sys.Agree(err); err != nil {
		return nil, h.Source, err
	}
	var m *Matrix[float64]
	if h.ValueType == msr.Float32 {
		var narrow *Matrix[float32]
		if narrow, err = msrRows[float32](ctx, sys.comm, path, align); err == nil {
			m = Convert[float64](narrow)
		}
	} else {
		m, err = msrRows[float64](ctx, sys.comm, path, align)
	}
	return m, h.Source, sys.Agree(err)
}

// msrRows copies the rows of this rank from a mapped file.
func msrRows[V sparse.Value](ctx context.Context, c Comm, path string, align Align) (*Matrix[V], error) {
	f, err := msr.Open[V](ctx, path, msr.SkipChecksums(), msr.SkipIndexCheck())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a := f.Matrix()
	if last := a.RowPtr[a.Rows]; last != a.NNZ() {
		return nil, sparse.Inputf(path, "its last row ends at %d: there are %d entries", last, a.NNZ())
	}
	m, err := rowsOf(c, a, align)
	if err == nil {
		err = m.Part.Validate()
	}
	var in *sparse.InputError
	if errors.As(err, &in) {
		return nil, &sparse.InputError{Subject: path, Msg: in.Msg, Err: in.Err}
	}
	return m, err
}

func readMTX(ctx context.Context, sys *System, path string, align Align) (*Matrix[float64], sparse.Source, error) {
	c := sys.comm
	part, err := mtx.ReadPart(ctx, path, c.Rank(), c.Size(), sparse.Limits{})
	if err := sys.Agree(err); err != nil {
		return nil, sparse.Source{}, err
	}
	src, rounded := part.Source, int64(0)
	if src.Stored, err = sumInt(c, part.Entries()); err != nil {
		return nil, src, err
	}
	if src.Field == sparse.Real { // a rank may have rounded integers where others did not
		rounded++
	}
	if rounded, err = sumInt(c, rounded); err != nil {
		return nil, src, err
	}
	if rounded > 0 {
		src.Field = sparse.Real
	}
	if err := part.CheckEntries(src.Stored); err != nil {
		return nil, src, &agreed{err} // all ranks compare the same numbers
	}
	m := &Matrix[float64]{Rows: part.Rows, Cols: part.Cols, rank: c.Rank()}
	if m.RowCut, err = distributedCuts(c, part.Rows, int(align), rowsIn(part.Triples, src.Symmetry)); err != nil {
		return nil, src, err
	}
	m.ColCut = columnCuts(m.RowCut, m.Rows, m.Cols)
	to := router[float64]{comm: c, cuts: m.RowCut, values: src.Field != sparse.Pattern}
	if err := to.run(expanded(part.Triples, src.Symmetry)); err != nil {
		return nil, src, err
	}
	part.Triples = nil
	m.Part = sparse.Assemble(m.RowCut[m.rank+1]-m.First(), m.Cols, sparse.General, to.blocks())
	m.NNZ, err = sumInt(c, m.Part.NNZ())
	return m, src, err
}

// sumInt returns the sum of n over all ranks, exact below 2^53.
func sumInt(c Comm, n int64) (int64, error) {
	v := []float64{float64(n)}
	err := c.Sum(v)
	return int64(v[0]), err
}

// expanded returns the entries of blocks in batches, with the entries that a symmetric file omits, and drops each
// block after returning it.
func expanded(blocks []sparse.Triples[float64], sym sparse.Symmetry) func() (sparse.Triples[float64], bool) {
	sign := 1.0
	if sym == sparse.SkewSymmetric {
		sign = -1
	}
	return func() (b sparse.Triples[float64], more bool) {
		if len(blocks) == 0 {
			return b, false
		}
		rest := &blocks[0]
		n := min(len(rest.Row), routeBatch)
		b.Row, rest.Row, b.Col, rest.Col = rest.Row[:n], rest.Row[n:], rest.Col[:n], rest.Col[n:]
		if rest.Val != nil {
			b.Val, rest.Val = rest.Val[:n], rest.Val[n:]
		}
		if len(rest.Row) == 0 {
			*rest = sparse.Triples[float64]{}
			blocks = blocks[1:]
		}
		if sym != sparse.General {
			b = mirrored(b, sign)
		}
		return b, len(blocks) > 0
	}
}

// mirrored adds, after each entry off the diagonal, the entry that mirrors it.
func mirrored(b sparse.Triples[float64], sign float64) (t sparse.Triples[float64]) {
	n := 2 * len(b.Row)
	t.Row, t.Col = make([]int32, 0, n), make([]int32, 0, n)
	if b.Val != nil {
		t.Val = make([]float64, 0, n)
	}
	add := func(i, j int32, sign float64, k int) {
		t.Row, t.Col = append(t.Row, i), append(t.Col, j)
		if b.Val != nil {
			t.Val = append(t.Val, sign*b.Val[k])
		}
	}
	for k, i := range b.Row {
		add(i, b.Col[k], 1, k)
		if j := b.Col[k]; i != j {
			add(j, i, sign, k)
		}
	}
	return t
}

// rowsIn calls visit with the row of each entry of the matrix.
func rowsIn(blocks []sparse.Triples[float64], sym sparse.Symmetry) func(visit func(row int32)) {
	return func(visit func(row int32)) {
		for _, b := range blocks {
			for k, i := range b.Row {
				visit(i)
				if j := b.Col[k]; sym != sparse.General && i != j {
					visit(j)
				}
			}
		}
	}
}
