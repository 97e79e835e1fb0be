package sparse

// Diagonal states what Lower and Upper do with the diagonal.
type Diagonal int

const (
	// KeepDiagonal keeps the entries of the diagonal.
	KeepDiagonal Diagonal = iota
	// DropDiagonal leaves the diagonal out.
	DropDiagonal
	// UnitDiagonal replaces the entries of the diagonal by one entry of value 1 in each
	// row i < min(rows, columns): the last entry of a row of a lower triangle, the first
	// of an upper one.
	UnitDiagonal
)

// Lower returns the lower triangular part of a: its entries (i, j) with j < i, and the
// diagonal that d states. Entries keep their order within a row. The result has the
// dimensions of a and shares no array with it.
func Lower[V Value](a *CSR[V], d Diagonal) (*CSR[V], error) { return triangle(a, d, true) }

// Upper returns the upper triangular part of a: its entries (i, j) with j > i, and the
// diagonal that d states; see Lower.
func Upper[V Value](a *CSR[V], d Diagonal) (*CSR[V], error) { return triangle(a, d, false) }

func triangle[V Value](a *CSR[V], d Diagonal, lower bool) (*CSR[V], error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if d < KeepDiagonal || d > UnitDiagonal {
		return nil, Inputf("d", "%d is not a Diagonal", int(d))
	}
	keeps := func(i int, j int32) bool {
		return int(j) == i && d == KeepDiagonal || lower && int(j) < i || !lower && int(j) > i
	}
	ones := 0 // rows that get an entry of value 1
	if d == UnitDiagonal {
		ones = min(a.Rows, a.Cols)
	}
	t := &CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: make([]int64, a.Rows+1)}
	eachRow(a.RowPtr, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			n := int64(0)
			for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
				if keeps(i, j) {
					n++
				}
			}
			if i < ones {
				n++
			}
			t.RowPtr[i+1] = n
		}
	})
	for i := range a.Rows {
		t.RowPtr[i+1] += t.RowPtr[i]
	}
	t.ColIdx, t.Val = make([]int32, t.RowPtr[a.Rows]), make([]V, t.RowPtr[a.Rows])
	eachRow(a.RowPtr, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := t.RowPtr[i]
			put := func(j int32, v V) {
				t.ColIdx[to], t.Val[to] = j, v
				to++
			}
			if i < ones && !lower {
				put(int32(i), 1)
			}
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				if keeps(i, a.ColIdx[k]) {
					put(a.ColIdx[k], a.Val[k])
				}
			}
			if i < ones && lower {
				put(int32(i), 1)
			}
		}
	})
	return t, nil
}
