// Package experiment runs the experiments of the MSREP paper on the devices at
// hand, or on a modelled node, and lays the results beside the paper's.
//
// An experiment adds rows to a record (results.json) and a section to a report.
// Measured and modelled figures never share a series.
package experiment
