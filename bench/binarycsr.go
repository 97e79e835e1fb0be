package bench

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// readBinaryCSR reads a matrix as the drivers of other libraries do: int64 rows,
// columns, nonzeros; int64 rowPtr[rows+1]; int32 colIdx[nnz]; float64 val[nnz], all
// little-endian. The size of the file is checked against the first three numbers
// before memory is taken. Errors are *sparse.InputError.
func readBinaryCSR(path string) (*sparse.CSR[float64], error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &sparse.InputError{Err: err}
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, &sparse.InputError{File: path, Err: err}
	}
	var head [3]int64
	if err := binary.Read(f, binary.LittleEndian, &head); err != nil {
		return nil, &sparse.InputError{File: path, Err: fmt.Errorf("its first 24 bytes are rows, columns and nonzeros: %w", err)}
	}
	rows, cols, nnz := head[0], head[1], head[2]
	switch {
	case rows < 0 || cols < 0 || nnz < 0 || rows > math.MaxInt32 || cols > math.MaxInt32 || nnz > math.MaxInt64/16:
		return nil, sparse.Inputf(path, "%d x %d with %d nonzeros can't be", rows, cols, nnz)
	case st.Size() != 24+8*(rows+1)+12*nnz:
		return nil, sparse.Inputf(path, "%d bytes: %d x %d with %d nonzeros take %d", st.Size(), rows, cols, nnz, 24+8*(rows+1)+12*nnz)
	}
	a := &sparse.CSR[float64]{Rows: int(rows), Cols: int(cols), RowPtr: make([]int64, rows+1), ColIdx: make([]int32, nnz), Val: make([]float64, nnz)}
	in := bufio.NewReaderSize(f, 1<<20)
	err = errors.Join(readInto(in, a.RowPtr), readInto(in, a.ColIdx), readInto(in, a.Val))
	if err != nil {
		return nil, &sparse.InputError{File: path, Err: err}
	}
	if err := a.Validate(); err != nil {
		return nil, &sparse.InputError{File: path, Err: err}
	}
	return a, nil
}

// readInto fills dst with little-endian numbers.
func readInto[T mem.Elem](r io.Reader, dst []T) error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return binary.Read(r, binary.LittleEndian, dst)
	}
	_, err := io.ReadFull(r, mem.Bytes(dst))
	return err
}
