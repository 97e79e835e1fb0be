//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// matrices has the matrices of msrep_read by the address of their row pointers.
var matrices = struct {
	mu   sync.Mutex
	read map[unsafe.Pointer]*readFile
}{read: map[unsafe.Pointer]*readFile{}}

// readFile is a matrix whose arrays the caller uses.
type readFile struct {
	matrix *matio.Matrix
	pins   runtime.Pinner
}

func (f *readFile) close() error {
	f.pins.Unpin()
	return f.matrix.Close()
}

//export msrepgo_read_with
func msrepgo_read_with(path *C.char, options *C.msrep_read_options, out *C.msrep_matrix) C.msrep_status {
	return call(func() error {
		if out == nil {
			return isNull("matrix")
		}
		if path == nil {
			return isNull("path")
		}
		if err := writeStruct("matrix", out, C.msrep_matrix{}); err != nil {
			return err
		}
		if out.size < C.size_t(unsafe.Sizeof(*out)) {
			return sparse.Inputf("matrix", "its size is %d: msrep_read stores %d bytes", uint64(out.size), unsafe.Sizeof(*out))
		}
		o, err := readStruct("options", options)
		if err != nil {
			return err
		}
		r := begin(0, 0)
		defer r.end()
		m, err := supervised(r, progress{o.progress, o.arg}, func(ctx context.Context, report func(int, float64)) (*matio.Matrix, error) {
			return readFrom(ctx, text(path), report)
		})
		if err != nil {
			return err
		}
		f := &readFile{matrix: m}
		c := C.msrep_matrix{
			rows: C.int64_t(m.Rows), cols: C.int64_t(m.Cols), nnz: C.int64_t(m.NNZ()), layout: C.MSREP_CSR,
			pointer_bits: 64, index_bits: 32, value_bits: 64,
			pointers: pin(f, m.RowPtr), indices: pin(f, m.ColIdx), values: pin(f, m.Val),
		}
		matrices.mu.Lock()
		matrices.read[c.pointers] = f
		matrices.mu.Unlock()
		return writeStruct("matrix", out, c)
	})
}

// readFrom is matio.Read with reports of the part of the file that is left to read.
func readFrom(ctx context.Context, path string, report func(int, float64)) (*matio.Matrix, error) {
	var mu sync.Mutex // workers of a reader report at the same time
	var last time.Time
	ctx = fileio.WithReads(ctx, func(n, size int64) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) >= pollEvery && size > 0 {
			last = time.Now()
			report(0, float64(max(size-n, 0))/float64(size))
		}
	})
	return matio.Read(ctx, path)
}

// pin returns the address of v, which stays where it is until f is closed.
func pin[T element](f *readFile, v []T) unsafe.Pointer {
	if len(v) == 0 {
		return nil
	}
	f.pins.Pin(&v[0])
	return unsafe.Pointer(&v[0])
}

//export msrepgo_matrix_free
func msrepgo_matrix_free(matrix *C.msrep_matrix) C.msrep_status {
	return call(func() error {
		m, err := readStruct("matrix", matrix)
		if err != nil || m.pointers == nil {
			return err
		}
		matrices.mu.Lock()
		f := matrices.read[m.pointers]
		delete(matrices.read, m.pointers)
		matrices.mu.Unlock()
		if f == nil {
			return sparse.Inputf("matrix", "its arrays are not of msrep_read, or were freed before")
		}
		if err := writeStruct("matrix", matrix, C.msrep_matrix{}); err != nil {
			return err
		}
		return f.close()
	})
}

//export msrepgo_write
func msrepgo_write(path *C.char, matrix *C.msrep_matrix) C.msrep_status {
	return call(func() error {
		if path == nil {
			return isNull("path")
		}
		a, g, err := inPlace(matrix)
		if err != nil {
			return err
		}
		src := sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: a.NNZ()}
		if g.m.values == nil {
			src.Field = sparse.Pattern
		}
		return matio.Write(text(path), a, src)
	})
}

//export msrepgo_info
func msrepgo_info(matrix *C.msrep_matrix, buffer *C.char, capacity C.size_t, length *C.size_t) C.msrep_status {
	return call(func() error {
		a, _, err := inPlace(matrix)
		if err != nil {
			return err
		}
		var d struct {
			stats.Stats
			Recommended stats.Recommendation `json:"recommended"` // for one CPU core
			ForGPU      stats.Recommendation `json:"recommended_gpu"`
		}
		d.Stats = stats.Of(a)
		d.Recommended, d.ForGPU = d.Stats.Recommend(), d.Stats.RecommendGPU()
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		return writeText(string(text), buffer, capacity, length)
	})
}

// inPlace returns a valid matrix in CSR that uses the caller's arrays where it can.
func inPlace(matrix *C.msrep_matrix) (*sparse.CSR[float64], *given, error) {
	g, err := readMatrix(matrix)
	if err != nil {
		return nil, nil, err
	}
	a, err := loadMatrix[float64](g, true)
	if err != nil {
		return nil, nil, err
	}
	if err := a.Validate(); err != nil {
		return nil, nil, err
	}
	return sparse.ToCSR(a), g, nil
}
