package msr

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"runtime/debug"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// payload is the bytes that the table covers, as consecutive slices.
type payload [][]byte

func (p payload) size() (n int64) {
	for _, piece := range p {
		n += int64(len(piece))
	}
	return n
}

// sum returns the CRC32C of bytes [lo, hi).
func (p payload) sum(lo, hi int64) uint32 {
	var crc uint32
	for _, piece := range p {
		n := int64(len(piece))
		if lo < n && hi > 0 {
			crc = crc32.Update(crc, castagnoli, piece[max(lo, 0):min(hi, n)])
		}
		lo, hi = lo-n, hi-n
	}
	return crc
}

// table returns the checksums of all chunks, padded as in a file. It computes them on
// several goroutines.
func (p payload) table() []byte {
	size := p.size()
	chunks := (size + chunkSize - 1) / chunkSize
	table := make([]byte, padded(4*chunks))
	par.Range(chunks, 1, func(lo, hi int64) {
		for b := lo; b < hi; b++ {
			sum := p.sum(b*chunkSize, min((b+1)*chunkSize, size))
			binary.LittleEndian.PutUint32(table[4*b:], sum)
		}
	})
	return table
}

// verifyTable checks the checksum of the table itself.
func verifyTable(table []byte, want uint32, name string) error {
	if got := crc32.Checksum(table, castagnoli); got != want {
		return sparse.Inputf(name, "damaged table of checksums: its checksum is %08x, its content gives %08x", want, got)
	}
	return nil
}

// verify compares every chunk of p with the table, on several goroutines. It stops early
// when ctx ends or a chunk is wrong. The error names the first wrong chunk.
func (p payload) verify(ctx context.Context, table []byte, name string) error {
	size := p.size()
	chunks := (size + chunkSize - 1) / chunkSize
	var bad, lost atomic.Int64 // lowest wrong chunk and lowest unreadable one
	bad.Store(math.MaxInt64)
	lost.Store(math.MaxInt64)
	par.Range(chunks, 1, func(lo, hi int64) {
		for b := lo; b < hi && b < bad.Load() && ctx.Err() == nil; b++ {
			sum, ok := p.sumReadable(b*chunkSize, min((b+1)*chunkSize, size))
			if !ok {
				lower(&lost, b)
				return
			}
			if sum != binary.LittleEndian.Uint32(table[4*b:]) {
				lower(&bad, b)
				return
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if b := lost.Load(); b < chunks {
		return sparse.Inputf(name, "%s cannot be read: the disk failed, or another program cut the file", chunkName(b, size))
	}
	if b := bad.Load(); b < chunks {
		return chunkError(name, b, size)
	}
	return nil
}

// sumReadable is sum for memory that may be a mapped file. It returns false, instead of
// ending the program, if the file no longer has the bytes or the disk fails.
func (p payload) sumReadable(lo, hi int64) (sum uint32, ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if _, fault := r.(interface{ Addr() uintptr }); !fault {
				panic(r)
			}
			sum, ok = 0, false
		}
	}()
	return p.sum(lo, hi), true
}

// lower stores v in x if v is less than x.
func lower(x *atomic.Int64, v int64) {
	for old := x.Load(); v < old && !x.CompareAndSwap(old, v); old = x.Load() {
	}
}

func chunkError(name string, chunk, size int64) error {
	return sparse.Inputf(name, "%s does not match its checksum: the file is damaged", chunkName(chunk, size))
}

func chunkName(chunk, size int64) string {
	return fmt.Sprintf("chunk %d of the payload (its bytes %d to %d)", chunk, chunk*chunkSize, min((chunk+1)*chunkSize, size)-1)
}
