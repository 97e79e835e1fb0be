// Package report draws what a run found: one HTML page that needs no network, an
// SVG, a PNG and a CSV for each figure, and a CSV for each table.
//
// A Page is plain data: sections with figures, tables and remarks. Write puts all
// files into a folder; each appears under its name when it is complete. Every
// series says whether it was measured here, modelled, counted by the interpreter of
// GPU code, or taken from a paper, and is drawn accordingly. SVG and PNG are drawn by
// the same code on two kinds of canvas, so that they show the same.
package report
