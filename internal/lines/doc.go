// Package lines splits text into lines for parsers that run in parallel.
//
// A file is read in two steps. A Reader gives the first lines one by one, for
// headers. Each then reads what is left in chunks of whole lines, parses the
// chunks on several goroutines, and hands the results over in the order of the
// file. So the first fault of a file is the one that is reported, with its true
// line number, however the goroutines were scheduled.
//
// Lines end with \n or \r\n; the last one may lack its end. Memory is a fixed
// number of chunks, whatever the length of the file.
//
// Write and WriteEntries are the other way round: text that is formatted on several
// goroutines is written in order.
package lines
