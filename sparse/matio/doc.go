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
// Values are float64. An .msr file of float32 values is read too, each value
// converted, which is exact.
package matio
