package sparse

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
)

// Limits bounds the memory that a reader allocates because of sizes that a file declares.
type Limits struct {
	// EmptyLines is the number of rows or columns that a matrix may have regardless of
	// its entries. A larger matrix may have at most 1024 rows or columns per stored entry.
	// This keeps a file of a hundred bytes from allocating terabytes of row pointers. Zero
	// means 2^24, a negative number no limit.
	EmptyLines int64
}

// defaultEmptyLines is the default of Limits.EmptyLines: 2^24 rows need 128 MiB of row
// pointers. linesPerEntry is the number of rows or columns that a larger matrix may have
// per entry. A line is a row or a column.
const (
	defaultEmptyLines = 1 << 24
	linesPerEntry     = 1024
)

// CheckDims returns an *InputError with file and line if a dimension is negative, above
// MaxDim, or above Limits for the number of entries.
func (l Limits) CheckDims(file string, line, rows, cols, entries int64) error {
	emptyLines := l.EmptyLines
	if emptyLines == 0 {
		emptyLines = defaultEmptyLines
	}
	for _, d := range []struct {
		n    int64
		name string
	}{{rows, "rows"}, {cols, "columns"}} {
		switch {
		case d.n < 0:
			return InputLinef(file, line, "%d %s: a size must not be negative", d.n, d.name)
		case d.n > MaxDim:
			return InputLinef(file, line, "%d %s: more than %d are not supported (indices are 32 bits wide)", d.n, d.name, MaxDim)
		case emptyLines >= 0 && d.n > emptyLines && d.n/linesPerEntry > entries:
			return InputLinef(file, line, "%d %s for %d entries: more than %d need at least one entry per %d", d.n, d.name, entries, emptyLines, linesPerEntry)
		}
	}
	return nil
}

// EntryBytes is the number of bytes per entry of a float64 matrix in CSR, TripleBytes that
// while it is assembled from triples.
const (
	EntryBytes  = 12
	TripleBytes = 16 + EntryBytes
)

// CheckMemory returns an *InputError with file and line if a matrix does not fit into
// memory, before its entries are read. It counts 8 bytes per row and each bytes per entry,
// such as EntryBytes or TripleBytes.
func (l Limits) CheckMemory(file string, line, rows, entries, each int64) error {
	need := saturate.Add(saturate.Mul(8, rows), saturate.Mul(each, entries))
	if have, ok := mem.Fits(need); !ok {
		return InputLinef(file, line, "%d entries in %d rows: to read them takes at least %d bytes of memory, %d are available", entries, rows, need, have)
	}
	return nil
}
