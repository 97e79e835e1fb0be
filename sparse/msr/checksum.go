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

// payload is what the table covers, as pieces of memory one after the other.
type payload [][]byte

func (p payload) size() (n int64) {
	for _, piece := range p {
		n += int64(len(piece))
	}
	return n
}

// sum is the CRC32C of bytes [lo, hi).
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

// table computes the checksums of all blocks in parallel, padded as in a file.
func (p payload) table() []byte {
	size := p.size()
	blocks := (size + blockSize - 1) / blockSize
	table := make([]byte, padded(4*blocks))
	par.Range(blocks, 1, func(lo, hi int64) {
		for b := lo; b < hi; b++ {
			sum := p.sum(b*blockSize, min((b+1)*blockSize, size))
			binary.LittleEndian.PutUint32(table[4*b:], sum)
		}
	})
	return table
}

// verifyTable checks the table itself.
func verifyTable(table []byte, want uint32, name string) error {
	if got := crc32.Checksum(table, castagnoli); got != want {
		return sparse.Inputf(name, "damaged table of checksums: its checksum is %08x, its content gives %08x", want, got)
	}
	return nil
}

// verify compares every block of p with the table, in parallel. It stops early
// when ctx is done or a block is wrong, and names the first wrong block.
func (p payload) verify(ctx context.Context, table []byte, name string) error {
	size := p.size()
	blocks := (size + blockSize - 1) / blockSize
	var bad, lost atomic.Int64 // lowest wrong block and lowest unreadable one
	bad.Store(math.MaxInt64)
	lost.Store(math.MaxInt64)
	par.Range(blocks, 1, func(lo, hi int64) {
		for b := lo; b < hi && b < bad.Load() && ctx.Err() == nil; b++ {
			sum, ok := p.sumReadable(b*blockSize, min((b+1)*blockSize, size))
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
	if b := lost.Load(); b < blocks {
		return sparse.Inputf(name, "%s cannot be read: the disk failed, or another program cut the file", blockName(b, size))
	}
	if b := bad.Load(); b < blocks {
		return blockError(name, b, size)
	}
	return nil
}

// sumReadable is sum for memory that may be a mapped file: where the file no
// longer has the bytes, or the disk fails, it says so instead of ending the
// program.
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

// lower makes x at most v.
func lower(x *atomic.Int64, v int64) {
	for old := x.Load(); v < old && !x.CompareAndSwap(old, v); old = x.Load() {
	}
}

func blockError(name string, block, size int64) error {
	return sparse.Inputf(name, "%s does not match its checksum: the file is damaged", blockName(block, size))
}

func blockName(block, size int64) string {
	return fmt.Sprintf("block %d of the payload (its bytes %d to %d)", block, block*blockSize, min((block+1)*blockSize, size)-1)
}
