package msr

import (
	"io"
	"slices"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Write writes m as an .msr file to w, without copying its arrays. It first computes the
// checksums, on several goroutines, and then writes everything in order.
//
// src describes the origin of the matrix. An empty Field means real, an empty Symmetry
// general; the zero Source also means that m.NNZ() entries were stored.
//
// A matrix that is invalid, has more than sparse.MaxDim rows, or does not match src gives
// an *sparse.InputError before anything is written. Other errors are those of w.
func Write[V sparse.Value](w io.Writer, m *sparse.CSR[V], src sparse.Source) error {
	if err := given.Check("writer", w); err != nil {
		return err
	}
	if err := checkByteOrder("matrix"); err != nil {
		return err
	}
	h, err := headerOf(m, src)
	if err != nil {
		return err
	}
	p := payloadOf(m)
	table := p.table()
	sum := payload{table}.sum(0, int64(len(table)))
	for _, piece := range append(payload{h.bytes(sum), table}, p...) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// headerOf checks m and src and returns the header of the file.
func headerOf[V sparse.Value](m *sparse.CSR[V], src sparse.Source) (Header, error) {
	if err := m.Validate(); err != nil {
		return Header{}, err
	}
	if src == (sparse.Source{}) {
		src.Stored = m.NNZ()
	}
	if src.Field == "" {
		src.Field = sparse.Real
	}
	if src.Symmetry == "" {
		src.Symmetry = sparse.General
	}
	switch {
	case m.Rows > sparse.MaxDim:
		return Header{}, sparse.Inputf("matrix", "%d rows: an .msr file holds at most %d", m.Rows, sparse.MaxDim)
	case m.NNZ() > maxEntries:
		return Header{}, sparse.Inputf("matrix", "%d entries: an .msr file holds at most %d", m.NNZ(), int64(maxEntries))
	case !slices.Contains(fields, src.Field):
		return Header{}, sparse.Inputf("source", "field %q is unknown: real, integer and pattern are known", src.Field)
	case !slices.Contains(symmetries, src.Symmetry):
		return Header{}, sparse.Inputf("source", "symmetry %q is unknown: general, symmetric and skew-symmetric are known", src.Symmetry)
	case src.Symmetry != sparse.General && m.Rows != m.Cols:
		return Header{}, sparse.Inputf("source", "%s, but the matrix has %d rows and %d columns: these must be equal", src.Symmetry, m.Rows, m.Cols)
	case src.Stored < 0:
		return Header{}, sparse.Inputf("source", "%d stored entries: the number must not be negative", src.Stored)
	}
	h := Header{Version: Version, ValueType: valueType[V](), Rows: m.Rows, Cols: m.Cols, NNZ: m.NNZ(), Source: src}
	h.Length = layoutOf(h).length
	return h, nil
}

// payloadOf returns the memory of the arrays of m, each with its padding.
func payloadOf[V sparse.Value](m *sparse.CSR[V]) payload {
	var p payload
	for _, array := range [][]byte{mem.Bytes(m.RowPtr), mem.Bytes(m.ColIdx), mem.Bytes(m.Val)} {
		n := int64(len(array))
		p = append(p, array, make([]byte, padded(n)-n))
	}
	return p
}
