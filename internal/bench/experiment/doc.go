// Package experiment runs the experiments of the MSREP, PELLR and CPMS papers on the available devices and compares
// the results with the papers'. It can run those of the MSREP paper on a modelled node. It also compares products
// with other libraries.
//
// An experiment adds rows to a record (results.json) and a section to a report.
// Measured and modelled figures never share a series.
package experiment
