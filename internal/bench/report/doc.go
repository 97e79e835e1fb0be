// Package report draws the results of a run: one HTML page that needs no network, an SVG, a PNG and a CSV for each
// figure, and a CSV for each table.
//
// A Page is plain data: sections with figures, tables and remarks. Write writes all files into a folder; each file
// appears under its name when it is complete. Every series states its origin (measured here, modelled, counted by the
// interpreter of GPU code, or taken from a paper) and is drawn accordingly. The same code draws SVG and PNG on two
// kinds of canvas, so both show the same.
package report
