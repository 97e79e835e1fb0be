// Package msr reads and writes .msr files: a CSR matrix in the same layout on disk as in
// memory, so opening a file maps it and copies nothing.
//
// # Layout, version 1
//
// All numbers are little-endian; big-endian machines can neither read nor write these
// files. A file is a header of 64 bytes, a table of checksums, and a payload of three
// arrays. The table and each array are padded with zero bytes to a multiple of 64 bytes,
// so every array starts at a multiple of 64 in the file and, once mapped, in memory.
//
//	offset  bytes  header
//	     0      8  magic: 89 'M' 'S' 'R' 0D 0A 1A 0A
//	     8      4  version: 1
//	    12      1  value type: 1 float64, 2 float32
//	    13      1  field of the source: 1 real, 2 integer, 3 pattern
//	    14      1  symmetry of the source: 1 general, 2 symmetric, 3 skew-symmetric
//	    15      1  zero
//	    16      8  rows, at most 2^31 - 1
//	    24      8  columns, at most 2^31 - 1
//	    32      8  nnz, the number of entries in the payload
//	    40      8  entries that the source stored (see sparse.Source)
//	    48      8  length of the whole file in bytes
//	    56      4  CRC32C of the table with its padding
//	    60      4  CRC32C of bytes 0 to 59
//
//	table    uint32[ceil(payload bytes / 4 MiB)]  CRC32C of each 4 MiB chunk of the payload; the last chunk may be shorter
//	payload  rowPtr int64[rows+1], colIdx int32[nnz], val float64[nnz] or float32[nnz]
//
// The checksums cover the payload with its padding. The header states the exact length,
// so truncated files and files with extra bytes are detected. Symmetric matrices are
// stored expanded; field and symmetry only describe the source. CRC32C is the Castagnoli
// polynomial, as in iSCSI.
//
// Several goroutines check the chunks, so verification runs at about the speed of memory.
// Open and Read check everything unless an option says otherwise: any kernel can use the
// matrix that they return.
package msr
