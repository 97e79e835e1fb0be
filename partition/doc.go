// Package partition cuts a sparse matrix into parts of about equal work, one
// for each device, without copying values or indices.
//
// A compressed matrix has majors and minors: rows and columns in CSR, columns
// and rows in CSC. Major r holds the entries ptr[r] <= k < ptr[r+1]. A Part is a
// run of entries [StartIdx, EndIdx] of the whole matrix together with the
// majors that it touches and the majors that it owns, so one type serves the
// pCSR, pCSC and pCOO of the MSREP paper (Chen et al., "MSREP: A Fast yet Light Sparse
// Matrix Framework for Multi-GPU Systems", Algorithms 2, 4 and 6).
//
// # Who owns a major
//
// A border between two parts may fall inside a major. Every major, empty or
// not, has exactly one owner all the same:
//
//   - a major with entries belongs to the part that holds its first entry;
//   - an empty major r belongs to the part with StartIdx <= ptr[r] < StartIdx of
//     the next part; the last part takes all that is left.
//
// So OwnFirst of part i is the first r with ptr[r] >= StartIdx (0 for the first
// part), and OwnEnd is OwnFirst of the next part (the number of majors for the
// last one). The matrix of the paper's Figure 1, 19 entries in 4 parts:
//
//	entry   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18
//	row     0  0  1  1  1  2  2  2  3  3  3  3  4  4  4  4  5  5  5
//	part   |---- 0 ----|----- 1 ------|----- 2 ------|----- 3 ------|
//	owns     rows 0, 1    rows 2, 3        row 4          row 5
//	carry                  to row 1       to row 3       to row 4
//
// A part whose first major began in an earlier part has StartFlag set. It adds
// one partial sum, the carry, to StartMajor, which the earlier part owns. Many
// parts may lie inside one long row: each then has a carry, and those in its
// middle own nothing.
// Package merge adds the carries up.
//
// The rules by blocks of majors and by merge path place empty majors at a border
// on either side of it, as their own balance asks. What holds for every rule is
// what Verify checks.
//
// # Which rule
//
//   - RuleNNZ, the paper's: the numbers of entries differ by at most one.
//   - RuleMergePath: entries and majors together are cut evenly, for matrices with
//     very many empty or short rows, where a row costs as much as an entry.
//   - RuleMajor, the paper's baseline: equal numbers of rows or columns, however
//     many entries they hold.
//   - RuleWhole: about equal numbers of entries, no row or column cut.
//   - RuleAuto: RuleNNZ or RuleMergePath, by the shape of the matrix.
//
// # Which function
//
// Split and SplitCOO cut a matrix by a rule; NewPCSR, NewPCSC and NewPCOO do the same and
// give views of the arrays of each part, for programs: plans work on the Part alone. Share
// cuts a part once more with weights, Within evenly by merge path, as the workers of one
// device do.
//
// Functions only read what they are given, and may be called from several goroutines at
// once. A split takes a few binary searches per part. Pointers must rise, as
// sparse.CSR.Validate checks; that is not checked again here, because it would
// read every row.
package partition
