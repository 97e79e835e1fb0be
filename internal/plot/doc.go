// Package plot draws figures and pages: the reports of msrep bench, and what --plot of other commands shows.
//
// A Page is plain data: sections with figures, tables and remarks. HTML writes it as one file that needs no network
// and no script, for light and dark screens and for print in black and white; Writer also gives one PNG or SVG of all
// figures. Write puts a report into a folder, with a SVG, a PNG and a CSV of each figure and a CSV of each table; each
// file appears under its name when it is complete.
//
// A series may state its origin (measured here, modelled, counted by the interpreter of GPU code, or taken from a
// paper) and is drawn accordingly. The same code draws SVG and PNG on two kinds of canvas, so both show the same.
package plot
