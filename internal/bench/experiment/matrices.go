package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// matrixSet caches the last matrix in the formats that were requested.
type matrixSet struct {
	name    string
	file    *matio.Matrix
	csr     *sparse.CSR[float64]
	formats map[sparse.Format]sparse.Matrix[float64]
}

// loaded describes a matrix that was used.
type loaded struct {
	file       bool // read from a file, not generated
	rows, cols int
	nnz        int64
}

// free unmaps the file of the matrix.
func (m *matrixSet) free() error {
	err := m.file.Close()
	*m = matrixSet{}
	return err
}

// load reads a matrix of Table 2 from the folder of matrices, or generates a similar one with about s.Entries
// entries.
func (s *Session) load(ctx context.Context, name string) (*matrixSet, error) {
	if s.matrix.name == name {
		return s.matrix, nil
	}
	if err := s.matrix.free(); err != nil { // the previous matrix
		return nil, err
	}
	m, ok := paper.Find(name)
	if !ok {
		return nil, fmt.Errorf("%s is not of Table 2", name)
	}
	path := s.find(name)
	if path == "" {
		path = fmt.Sprintf("gen:like=%s,scale=%.4g", name, min(float64(s.Entries)/float64(m.NNZ), 1))
	}
	a, err := matio.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	*s.matrix = matrixSet{name: name, file: a, csr: a.CSR, formats: map[sparse.Format]sparse.Matrix[float64]{sparse.FormatCSR: a.CSR}}
	s.loaded[name] = loaded{s.find(name) != "", a.CSR.Rows, a.CSR.Cols, a.NNZ()}
	s.from[name] = fmt.Sprintf("%s (%.2g)", path, float64(a.NNZ())/float64(m.Stored))
	return s.matrix, nil
}

// find returns the file of a matrix, or "".
func (s *Session) find(name string) string {
	if s.Mats == "" {
		return ""
	}
	for _, ext := range []string{".msr", ".mtx", ".mtx.gz", ".rb", ".npz"} {
		path := filepath.Join(s.Mats, name+ext)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// in returns the matrix in a format.
func (m *matrixSet) in(f sparse.Format) sparse.Matrix[float64] {
	if m.formats[f] == nil {
		if f == sparse.FormatCSC {
			m.formats[f] = sparse.ToCSC[float64](m.csr)
		} else {
			m.formats[f] = sparse.ToCOO[float64](m.csr)
		}
	}
	return m.formats[f]
}

// leastBytes returns the least number of bytes that a product moves: the arrays of a matrix in csr, csc or coo, with
// 8-byte pointers and 4-byte indices, and both vectors, each once.
func leastBytes(f sparse.Format, rows, cols int, nnz int64) int64 {
	vectors := 8 * int64(rows+cols)
	switch f {
	case sparse.FormatCOO:
		return 16*nnz + vectors
	case sparse.FormatCSC:
		return 12*nnz + 8*int64(cols+1) + vectors
	}
	return 12*nnz + 8*int64(rows+1) + vectors
}
