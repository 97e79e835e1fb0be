// Package edges reads edge lists with ids of any kind: comma-separated and tab-separated
// values, and lists separated by semicolons or spaces.
//
// Each line is one edge. Its first two fields are the ids of its nodes. Ids are texts, also
// if they are numbers: 1 and 01 are two nodes. Nodes are numbered in the order in which
// their ids first appear. Blank lines, and lines that begin with # or %, are skipped. Blanks
// around a field do not belong to it. A field may be in double quotes, in which "" stands
// for one quote; it must end on its line. All lines have the same number of fields.
//
// The matrix is square: a[i][j] is the weight of the edge from node i to node j, or 1.
// Without weights, an edge that is repeated counts once, and its value is 1. With weights,
// those of a repeated edge are added.
package edges
