// Package snap reads and writes edge lists as the Stanford Network Analysis
// Project (SNAP) publishes them.
//
// Each line is one edge of a graph, "from to" or "from to weight", separated by
// any white space. Lines that begin with # or % are comments. Node ids are whole
// numbers from 0 on. The first edge says whether all edges have weights.
//
// The matrix is square, of order largest id + 1: a[from][to] is the weight, or 1.
// Ids are kept, so that ids without edges are empty rows and columns; ReadRenumbered
// leaves these out. Node and
// edge counts in comments are not trusted; where there are fewer edges than a comment states, Source.Note says so.
//
// An edge without a weight is there or not: if a list repeats it, as logs of
// events do, it still counts once, and the value stays 1. Weights of an edge that
// is repeated add up, as in a multigraph. Edges are directed as they stand: lists
// of undirected graphs that give each edge once give a triangular matrix.
package snap
