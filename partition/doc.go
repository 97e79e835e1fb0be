// Package partition splits a sparse matrix into parts of about equal work, one for each
// device, without copying values or indices.
//
// A compressed matrix has majors and minors: rows and columns in CSR, columns and rows in
// CSC. Major r holds the entries ptr[r] <= k < ptr[r+1]. A Part is a range of entries
// [StartIdx, EndIdx] of the whole matrix, together with the majors that it touches and
// the majors that it owns. The same type serves the pCSR, pCSC and pCOO of the MSREP
// paper (Chen et al., "MSREP: A Fast yet Light Sparse Matrix Framework for Multi-GPU
// Systems", Algorithms 2, 4 and 6).
//
// # Who owns a major
//
// A border between two parts may fall inside a major. Every major, empty or not, still
// has exactly one owner:
//
//   - a major with entries belongs to the part that holds its first entry;
//   - an empty major r belongs to the part with StartIdx <= ptr[r] < StartIdx of the next
//     part; the last part owns all that remain.
//
// OwnFirst of part i is therefore the first r with ptr[r] >= StartIdx (0 for the first
// part). OwnEnd is OwnFirst of the next part (the number of majors for the last part).
// The matrix of the paper's Figure 1, 19 entries in 4 parts:
//
//	entry   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18
//	row     0  0  1  1  1  2  2  2  3  3  3  3  4  4  4  4  5  5  5
//	part   |---- 0 ----|----- 1 ------|----- 2 ------|----- 3 ------|
//	owns     rows 0, 1    rows 2, 3        row 4          row 5
//	carry                  to row 1       to row 3       to row 4
//
// A part has StartFlag set if its first major began in an earlier part. It adds one
// partial sum, the carry, to StartMajor, which the earlier part owns. Several parts may
// lie inside one long row: each of them but the first has a carry, and those in the
// middle own nothing. Package merge adds the carries.
//
// RuleMajor, RuleWhole and RuleMergePath may assign the empty majors at a border to
// either side. Verify checks what holds for every rule.
//
// # Which rule
//
//   - RuleNNZ, the paper's rule: the numbers of entries differ by at most one.
//   - RuleMergePath: equal numbers of entries and majors together. It suits matrices with
//     very many empty or short rows, where a row costs as much as an entry.
//   - RuleMajor, the paper's baseline: equal numbers of majors, however many entries they
//     hold.
//   - RuleWhole: about equal numbers of entries, without cutting a major.
//   - RuleAuto: RuleNNZ or RuleMergePath, depending on the shape of the matrix.
//
// # Which function
//
// Split and SplitCOO split a matrix by a rule and return Parts, which is all that a plan
// needs. NewPCSR, NewPCSC and NewPCOO return parts with views of the matrix's arrays.
// SplitWeighted splits a part again with weights. Within splits a part again evenly by merge
// path, for the workers of one device.
//
// The functions only read their arguments, and several goroutines may call them at once.
// A split takes a few binary searches per part. Pointers must be in ascending order. The
// functions do not check all of them, because that would read every row;
// sparse.CSR.Validate does.
package partition
