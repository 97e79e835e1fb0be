// Package lines splits text into lines for parsers that run on several goroutines.
//
// A file is read in two steps. A Reader returns the first lines one by one, for headers.
// Each then reads the rest in chunks of whole lines, parses the chunks on several
// goroutines, and passes on the results in the order of the file. So the first error of a
// file is reported with its line number, regardless of scheduling.
//
// Lines end with \n or \r\n; the last one may lack its end. Memory is a fixed number of
// chunks, regardless of the length of the file.
//
// Write and WriteEntries do the reverse: they format text on several goroutines and write
// it in order.
package lines
