// Package matio reads and writes matrices by file name.
//
//	.mtx                                Matrix Market
//	.rb .rsa .rua .rra .psa .pua .hb    Rutherford-Boeing and Harwell-Boeing
//	.npz                                SciPy; FILE.npz#GROUP picks one matrix of several
//	.txt                                SNAP edge list
//	.msr                                binary cache of this project, mapped into memory
//	.bin                                binary CSR, which benchmarks of other libraries read
//	gen:NAME:key=value,...              made by formula (package gen); only read
//
// Each file may also be gzipped, with .gz behind its name; what is gzipped is
// told by the content, not by the name. Content also decides where it is
// unmistakable: the first bytes of Matrix Market, .msr and zip files are
// recognised under any name, and Harwell-Boeing headers and edge lists that begin
// with comments under names that are not known, as /dev/stdin. Everything else goes
// by the name. Files that are compressed otherwise are refused: they must be unpacked first.
//
// Of a tar archive, plain or gzipped, the file is read that is called as its folder, as
// NAME/NAME.mtx in the .tar.gz of the SuiteSparse collection, or else the only file in it.
//
// Names choose a format and nothing else: an unsymmetric matrix in a file .rsa has the type
// rua in its header, by which readers go.
//
// # What a file may cost
//
// No reader believes a size before the bytes have arrived. In all it allocates at most 32 MiB, 40
// bytes for each byte of unpacked content, and 8 bytes for each row; claims_test.go checks it. A
// matrix has at most 2^24 rows and columns, or 1024 for each entry (sparse.Limits).
//
// Compressed content, of a gzipped file or of the arrays of an .npz archive, unpacks to at most
// 64 MiB and 200 times the bytes of the file. What goes beyond is refused: a file of which it is
// right, such as a vector of 50 million zeros, must be unpacked first.
//
// Values are float64. An .msr file of float32 values is read too, each value
// converted, which is exact.
package matio
