// Package msr reads and writes .msr files: a CSR matrix laid out on disk as it
// lies in memory, so that opening one maps the file and copies nothing.
//
// # Layout, version 1
//
// All numbers are little endian; big-endian machines refuse to read and write such
// files. A file is a header of 64 bytes, a table of checksums, and a payload of
// three arrays. The table and each array are padded with zero bytes to a multiple
// of 64, so that every array starts at a multiple of 64 bytes in the file and,
// once mapped, in memory.
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
//	table    uint32[ceil(payload bytes / 4 MiB)]  CRC32C of each 4 MiB of payload, the last piece may be shorter
//	payload  rowPtr int64[rows+1], colIdx int32[nnz], val float64[nnz] or float32[nnz]
//
// The checksums cover the payload with its padding. The header gives the exact
// length, so a file that was cut or that has bytes after its end is recognised.
// Symmetric matrices are stored expanded; field and symmetry only say what the
// source was. CRC32C is the Castagnoli polynomial as in iSCSI.
//
// The pieces of 4 MiB are checked in parallel, so that verification runs at
// about the speed of memory. Open and Read check everything unless told
// otherwise: a matrix that they return can be given to any kernel.
package msr
