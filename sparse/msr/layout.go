package msr

// align is the alignment of every array, in bytes: one cache line.
const align = 64

// chunkSize is the number of bytes of payload that one checksum covers.
const chunkSize = 4 << 20

// maxEntries keeps every size below 2^63: an entry takes at most 12 bytes.
const maxEntries = 1 << 58

// layout is the positions and sizes of the parts of a file, in bytes. The header
// determines them.
type layout struct {
	ptr, idx, val int64 // sizes of the arrays, without padding
	chunks        int64 // number of checksums
	payload       int64 // offset of the payload, which follows the table
	length        int64 // length of the file
}

func layoutOf(h Header) layout {
	size := int64(8)
	if h.ValueType == Float32 {
		size = 4
	}
	l := layout{ptr: 8 * (int64(h.Rows) + 1), idx: 4 * h.NNZ, val: size * h.NNZ}
	n := padded(l.ptr) + padded(l.idx) + padded(l.val)
	l.chunks = (n + chunkSize - 1) / chunkSize
	l.payload = HeaderSize + padded(4*l.chunks)
	l.length = l.payload + n
	return l
}

// padded rounds n up to a multiple of align.
func padded(n int64) int64 { return (n + align - 1) &^ (align - 1) }
