package sparse

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
)

// Limits bounds what a reader may allocate on the word of a file.
type Limits struct {
	// EmptyLines is how many rows or columns a matrix may have whatever it
	// holds; above that, at most LinesPerEntry per stored entry. It keeps a file
	// of a hundred bytes from asking for terabytes of row pointers. Zero means
	// the default, a negative number no limit.
	EmptyLines int64
}

// Defaults of Limits: 2^24 rows need 128 MiB of row pointers.
const (
	DefaultEmptyLines = 1 << 24
	LinesPerEntry     = 1024
)

// CheckDims refuses dimensions that are negative, beyond 32-bit indices, or out
// of all proportion to the number of entries. file and line go into the error.
func (l Limits) CheckDims(file string, line, rows, cols, entries int64) error {
	free := l.EmptyLines
	if free == 0 {
		free = DefaultEmptyLines
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
		case free >= 0 && d.n > free && d.n/LinesPerEntry > entries:
			return InputLinef(file, line, "%d %s for %d entries: more than %d need at least one entry per %d", d.n, d.name, entries, free, LinesPerEntry)
		}
	}
	return nil
}

// Memory for each entry of a float64 matrix: in CSR, and while it is assembled of triples.
const (
	EntryBytes  = 12
	TripleBytes = 16 + EntryBytes
)

// CheckMemory refuses a matrix before its entries are read that would not fit into memory
// meanwhile: row pointers, and so many bytes for each entry, TripleBytes or EntryBytes at
// the least. file and line go into the error.
func (l Limits) CheckMemory(file string, line, rows, entries, each int64) error {
	need := saturate.Add(saturate.Mul(8, rows), saturate.Mul(each, entries))
	if have, ok := mem.Fits(need); !ok {
		return InputLinef(file, line, "%d entries in %d rows: to read them takes at least %d bytes of memory, %d are available", entries, rows, need, have)
	}
	return nil
}
