package probe

import "github.com/msrep-go/msrep/sparse"

// irregular is how many times the mean number of entries a row may have in a mesh.
const irregular = 16

// Width returns the largest number of rows at the same distance from a row far outside, in the graph of a square matrix: about
// the size of a separator of a mesh, which is sqrt(n) in two dimensions and n^(2/3) in three. It returns 0 for a matrix with
// much longer rows than others, whose distances say little. It takes two passes over the entries.
func Width(a *sparse.CSR[float64]) int {
	mean := float64(a.NNZ()) / float64(max(a.Rows, 1))
	for i := range a.Rows {
		if float64(a.RowPtr[i+1]-a.RowPtr[i]) > irregular*mean {
			return 0
		}
	}
	seen := make([]bool, a.Rows)
	queue := make([]int32, 0, a.Rows)
	search := func(start int32) (last int32, width int) {
		clear(seen)
		queue, seen[start] = append(queue[:0], start), true
		for from := 0; from < len(queue); {
			to := len(queue)
			width = max(width, to-from)
			for ; from < to; from++ {
				i := queue[from]
				for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
					if !seen[j] {
						seen[j] = true
						queue = append(queue, j)
					}
				}
			}
		}
		return queue[len(queue)-1], width
	}
	if a.Rows == 0 {
		return 0
	}
	far, _ := search(0)
	_, width := search(far)
	return width
}
