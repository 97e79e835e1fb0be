//go:build cuda

package cusparse

// #cgo LDFLAGS: -ldl
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// Algorithm is a cusparseSpMVAlg_t, or Op.
type Algorithm int

// These are the algorithms for CSR and COO. CSR1 adds in a different order each time;
// CSR2 and COO2 always return the same bits. Op stands for the functions SpMVOp, which
// multiply by CSR matrices that are not transposed; Preprocess analyses the values too.
const (
	Default Algorithm = 0
	COO1    Algorithm = 1
	CSR1    Algorithm = 2
	CSR2    Algorithm = 3
	COO2    Algorithm = 4
	Op      Algorithm = 5
)

func (a Algorithm) String() string {
	names := []string{"default", "COO_ALG1", "CSR_ALG1", "CSR_ALG2", "COO_ALG2", "SpMVOp"}
	if a < 0 || int(a) >= len(names) {
		return fmt.Sprintf("algorithm %d", int(a))
	}
	return names[a]
}

// ErrNoOp means that the library is older than SpMVOp.
var ErrNoOp = errors.New("the library has no SpMVOp, which came with 12.7.3 (CUDA 13.1)")

// ErrAbsent means that the library is not installed or too old.
var ErrAbsent = errors.New("cuSPARSE can't be loaded")

// Error is a status of the library.
type Error struct{ Status int }

func (e Error) Error() string {
	return fmt.Sprintf("cuSPARSE error %d, %s", e.Status, C.GoString(C.msrep_sparse_text(C.int(e.Status))))
}

func check(status C.int) error {
	if status == 0 {
		return nil
	}
	return Error{int(status)}
}

// load loads the library, once.
var load = sync.OnceValue(func() error {
	if why := C.GoString(C.msrep_sparse_load()); why != "" {
		return fmt.Errorf("%w: %s", ErrAbsent, why)
	}
	return nil
})

// Version returns the version of the library and the file that it was loaded from.
func Version() (string, error) {
	if err := load(); err != nil {
		return "", err
	}
	var major, minor, patch C.int
	if err := check(C.msrep_sparse_version(&major, &minor, &patch)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d.%d.%d (%s)", major, minor, patch, C.GoString(C.msrep_sparse_path())), nil
}

// Handle is a connection of the calling thread's context to the library.
type Handle struct{ h unsafe.Pointer }

// New creates a handle. An error wraps ErrAbsent if there is no library.
func New() (*Handle, error) {
	if err := load(); err != nil {
		return nil, err
	}
	h := &Handle{}
	if err := check(C.msrep_sparse_create(&h.h)); err != nil {
		return nil, err
	}
	return h, nil
}

// Close destroys the handle.
func (h *Handle) Close() error { return check(C.msrep_sparse_destroy(h.h)) }

// SetStream sets the driver's stream for later work.
func (h *Handle) SetStream(stream unsafe.Pointer) error {
	return check(C.msrep_sparse_set_stream(h.h, stream))
}

// Matrix describes a matrix in device memory. The caller owns the arrays and must keep
// them until Close.
type Matrix struct {
	m      unsafe.Pointer
	trans  bool // the arrays hold the transpose
	single bool
}

// CSR describes a rows x cols matrix: rows+1 pointers, 64 bits wide if ptr64, else
// 32; nnz column indices, 32 bits wide; nnz values, float32 if single, else float64.
func CSR(rows, cols, nnz int64, ptr, idx, val uint64, ptr64, single bool) (*Matrix, error) {
	m := &Matrix{single: single}
	return opened(m, C.msrep_sparse_csr(&m.m, C.int64_t(rows), C.int64_t(cols), C.int64_t(nnz),
		C.uint64_t(ptr), C.uint64_t(idx), C.uint64_t(val), truth(ptr64), truth(single)))
}

// CSC describes a matrix by its columns. Its arguments are those of CSR, with cols+1
// pointers and row indices.
func CSC(rows, cols, nnz int64, ptr, idx, val uint64, ptr64, single bool) (*Matrix, error) {
	m, err := CSR(cols, rows, nnz, ptr, idx, val, ptr64, single)
	if m != nil {
		m.trans = true
	}
	return m, err
}

// COO describes a matrix by triples sorted by row.
func COO(rows, cols, nnz int64, row, col, val uint64, single bool) (*Matrix, error) {
	m := &Matrix{single: single}
	return opened(m, C.msrep_sparse_coo(&m.m, C.int64_t(rows), C.int64_t(cols), C.int64_t(nnz),
		C.uint64_t(row), C.uint64_t(col), C.uint64_t(val), truth(single)))
}

func opened(m *Matrix, status C.int) (*Matrix, error) {
	if err := check(status); err != nil {
		return nil, err
	}
	return m, nil
}

// Close destroys the description.
func (m *Matrix) Close() error { return check(C.msrep_sparse_destroy_matrix(m.m)) }

// Vector describes a vector in device memory.
type Vector struct{ v unsafe.Pointer }

// NewVector describes n elements at val.
func NewVector(n int64, val uint64, single bool) (*Vector, error) {
	v := &Vector{}
	if err := check(C.msrep_sparse_vector(&v.v, C.int64_t(n), C.uint64_t(val), truth(single))); err != nil {
		return nil, err
	}
	return v, nil
}

// Set moves the vector to address val.
func (v *Vector) Set(val uint64) error {
	return check(C.msrep_sparse_set_vector(v.v, C.uint64_t(val)))
}

// Close destroys the description.
func (v *Vector) Close() error { return check(C.msrep_sparse_destroy_vector(v.v)) }

// Product is y = alpha*op(A)*x + beta*y with one algorithm; op(A) is A, or its
// transpose if Trans.
type Product struct {
	A         *Matrix
	X, Y      *Vector
	Trans     bool
	Algorithm Algorithm
	Buffer    uint64 // device memory of BufferBytes, kept between products

	analysis, plan unsafe.Pointer // of Op, after Preprocess
}

// Close releases what Preprocess has made.
func (p *Product) Close() error {
	if p.analysis == nil && p.plan == nil {
		return nil
	}
	err := check(C.msrep_sparse_op_destroy(p.analysis, p.plan))
	p.analysis, p.plan = nil, nil
	return err
}

func (p *Product) op() C.int { return truth(p.Trans != p.A.trans) }

// BufferBytes returns the memory that the product needs in addition to its operands.
func (h *Handle) BufferBytes(p *Product) (int64, error) {
	var n C.size_t
	if p.Algorithm == Op {
		if C.msrep_sparse_has_op() == 0 {
			return 0, ErrNoOp
		}
		err := check(C.msrep_sparse_op_buffer(h.h, p.A.m, p.X.v, p.Y.v, truth(p.A.single), &n))
		return int64(n), err
	}
	err := check(C.msrep_sparse_buffer(h.h, p.op(), 1, p.A.m, p.X.v, 0, p.Y.v, truth(p.A.single), C.int(p.Algorithm), &n))
	return int64(n), err
}

// Preprocess analyses the matrix once, for all products with this buffer. It does
// nothing if the library lacks this function. Product.Close releases what it makes.
func (h *Handle) Preprocess(p *Product) error {
	if p.Algorithm == Op {
		return check(C.msrep_sparse_op_create(h.h, p.A.m, p.X.v, p.Y.v, truth(p.A.single), C.uint64_t(p.Buffer), &p.analysis, &p.plan))
	}
	return check(C.msrep_sparse_preprocess(h.h, p.op(), 1, p.A.m, p.X.v, 0, p.Y.v, truth(p.A.single), C.int(p.Algorithm), C.uint64_t(p.Buffer)))
}

// Multiply enqueues the product on the stream of the handle.
func (h *Handle) Multiply(p *Product, alpha, beta float64) error {
	if p.Algorithm == Op {
		return check(C.msrep_sparse_op_multiply(h.h, p.plan, C.double(alpha), p.X.v, C.double(beta), p.Y.v, truth(p.A.single)))
	}
	return check(C.msrep_sparse_multiply(h.h, p.op(), C.double(alpha), p.A.m, p.X.v, C.double(beta), p.Y.v, truth(p.A.single), C.int(p.Algorithm), C.uint64_t(p.Buffer)))
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
