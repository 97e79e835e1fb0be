// Package experiment runs the experiments of the MSREP, PELLR and CPMS papers on the
// devices at hand, or those of the first on a modelled node, and lays the results
// beside the papers'; and races with other libraries.
//
// An experiment adds rows to a record (results.json) and a section to a report.
// Measured and modelled figures never share a series.
package experiment
