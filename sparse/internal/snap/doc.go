// Package snap reads and writes edge lists as the Stanford Network Analysis Project
// (SNAP) publishes them.
//
// Each line is one edge of a graph, "from to" or "from to weight", separated by white
// space. Lines that begin with # or % are comments. Node ids are whole numbers from 0.
// The first edge determines whether all edges have weights.
//
// The matrix is square, of order largest id + 1: a[from][to] is the weight, or 1. Ids are
// kept, so ids without edges are empty rows and columns; ReadRenumbered removes these.
// The counts of nodes and edges in comments are not used, but if there are fewer edges
// than a comment states, Source.Note says so.
//
// Without weights, an edge that is repeated, as in logs of events, counts once, and its
// value is 1. With weights, those of a repeated edge are added, as in a multigraph. Edges
// are directed: a list of an undirected graph that holds each edge once gives a
// triangular matrix.
package snap
