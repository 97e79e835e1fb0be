package launch

import "fmt"

// longRow is the length from which a row counts as long. One warp of the vector kernels
// reads the whole row while others wait.
const longRow = 4096

// skewed reports whether one warp takes about as long for the longest row as all warps
// take for the part. On an H100, one warp reads an entry in 6.6 ns; all warps together
// read one in 0.004 to 0.009 ns.
func skewed(longest, nnz int64) bool { return longest >= longRow && longest > nnz/2000 }

// choose chooses the kernels for a part without measuring: merge path if the part is
// skewed, or if the rows are so short that their number costs more than their entries;
// else the vector kernels. The second result is the reason. ptr is as in
// kernels.Packing; rows that are cut count in full.
func choose(ptr []int64) (CSRKernel, string) {
	rows := int64(len(ptr) - 1)
	if rows < 1 {
		return Vector, "the part has no rows"
	}
	nnz := ptr[rows] - ptr[0]
	longest := int64(0)
	for r := range rows {
		longest = max(longest, ptr[r+1]-ptr[r])
	}
	switch {
	case skewed(longest, nnz):
		return Merge, fmt.Sprintf("a row has %d of the %d entries of the part's rows", longest, nnz)
	case nnz < rows:
		return Merge, fmt.Sprintf("%d rows share %d entries", rows, nnz)
	}
	return Vector, fmt.Sprintf("no row has more than %d of the %d entries of the part's rows", longest, nnz)
}
