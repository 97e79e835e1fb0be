package msr

// align is the alignment of every array, in bytes: one cache line.
const align = 64

// blockSize is how many bytes of payload one checksum covers.
const blockSize = 4 << 20

// maxEntries keeps every size below 2^63: an entry takes at most 12 bytes.
const maxEntries = 1 << 58

// layout is where the parts of a file lie, in bytes. It follows from the
// header alone.
type layout struct {
	ptr, idx, val int64 // sizes of the arrays, without padding
	blocks        int64 // entries of the table
	payload       int64 // offset of the payload; the table lies before it
	length        int64 // of the file
}

func layoutOf(h Header) layout {
	size := int64(8)
	if h.ValueType == Float32 {
		size = 4
	}
	l := layout{ptr: 8 * (int64(h.Rows) + 1), idx: 4 * h.NNZ, val: size * h.NNZ}
	n := padded(l.ptr) + padded(l.idx) + padded(l.val)
	l.blocks = (n + blockSize - 1) / blockSize
	l.payload = HeaderSize + padded(4*l.blocks)
	l.length = l.payload + n
	return l
}

// padded rounds n up to a multiple of align.
func padded(n int64) int64 { return (n + align - 1) &^ (align - 1) }
