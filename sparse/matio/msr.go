package matio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/msr"
)

// readMSR maps a plain file into memory and reads any other file as a stream.
func (m *Matrix) readMSR(ctx context.Context, f *fileio.File, in *bufio.Reader, o options) error {
	head, err := in.Peek(msr.HeaderSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	h, err := msr.ReadHeader(bytes.NewReader(head), f.Title())
	if err != nil {
		return err
	}
	if h.ValueType == msr.Float64 {
		m.CSR, err = loadMSR[float64](ctx, m, f, in, o)
		return err
	}
	narrow, err := loadMSR[float32](ctx, m, f, in, o)
	if err == nil {
		err = o.limits.CheckMemory(f.Name, 0, 0, narrow.NNZ(), 8)
	}
	if err == nil {
		m.CSR = widen(narrow)
	}
	return err
}

func loadMSR[V sparse.Value](ctx context.Context, m *Matrix, f *fileio.File, in io.Reader, o options) (*sparse.CSR[V], error) {
	if !f.Plain() {
		csr, src, err := msr.Read[V](ctx, in, f.Title(), o.limits)
		m.Source = src
		return csr, err
	}
	var skip []msr.Option
	if o.skipChecksums {
		skip = append(skip, msr.SkipChecksums())
	}
	file, err := msr.Open[V](ctx, f.Name, skip...)
	if err != nil {
		return nil, err
	}
	m.Source, m.close = file.Source(), file.Close
	return file.Matrix(), nil
}

// widen converts the values. The result shares the other arrays.
func widen(m *sparse.CSR[float32]) *sparse.CSR[float64] {
	val := make([]float64, len(m.Val))
	par.Range(int64(len(val)), 1<<16, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			val[k] = float64(m.Val[k])
		}
	})
	return &sparse.CSR[float64]{Rows: m.Rows, Cols: m.Cols, RowPtr: m.RowPtr, ColIdx: m.ColIdx, Val: val}
}
