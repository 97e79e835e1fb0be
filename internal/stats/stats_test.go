package stats_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
)

// ofRows makes a matrix whose row i has the given columns.
func ofRows(t require.TestingT, cols int, rows ...[]int32) *sparse.CSR[float64] {
	ptr, idx := []int64{0}, []int32{}
	for _, r := range rows {
		idx = append(idx, r...)
		ptr = append(ptr, int64(len(idx)))
	}
	m, err := sparse.NewCSR(len(rows), cols, ptr, idx, make([]float64, len(idx)))
	require.NoError(t, err)
	return m
}

func upTo(n int) []int32 {
	out := make([]int32, n)
	for j := range out {
		out[j] = int32(j)
	}
	return out
}

// ref is a number that a format has.
func ref(n int64) *int64 { return &n }

// counted are the formats whose costs were counted by hand here; sparse/ellpack tests
// those of the others.
func counted(all map[string]stats.Cost) map[string]stats.Cost {
	some := map[string]stats.Cost{}
	for _, f := range []string{"csr", "csc", "coo", "ell", "ellr", "pellr"} {
		some[f] = all[f]
	}
	return some
}

func TestSmallMatricesHaveTheCountsMadeByHand(t *testing.T) {
	csrOnly := func(csr, csc int64) map[string]stats.Cost { // a matrix without entries
		return map[string]stats.Cost{
			"csr": {Bytes: csr, WarpIterations: ref(0), Work: ref(0)}, "csc": {Bytes: csc}, "coo": {},
			"ell":   {WarpIterations: ref(0), Work: ref(0)},
			"ellr":  {Bytes: (csr - 8) / 2, WarpIterations: ref(0), Work: ref(0)},
			"pellr": {Bytes: csr - 8, WarpIterations: ref(0), Work: ref(0)},
		}
	}
	longRow := make([][]int32, 70) // row 40 is full, rows 0 and 69 hold one entry
	longRow[0], longRow[40], longRow[69] = []int32{99}, upTo(100), []int32{0}

	for _, c := range []struct {
		name string
		m    *sparse.CSR[float64]
		want stats.Stats
	}{
		{"0 x 0", ofRows(t, 0), stats.Stats{Formats: csrOnly(8, 8)}},
		{"0 x 5", ofRows(t, 5), stats.Stats{Cols: 5, EmptyCols: 5, Formats: csrOnly(8, 48)}},
		{"5 x 0", ofRows(t, 0, make([][]int32, 5)...), stats.Stats{Rows: 5, EmptyRows: 5, Formats: csrOnly(48, 8)}},
		{"one row", ofRows(t, 4, []int32{3, 1}), stats.Stats{
			Rows: 1, Cols: 4, NNZ: 2, EmptyCols: 2, Bandwidth: 3, Upper: 3,
			Row: stats.RowLengths{Min: 2, Max: 2, Mean: 2},
			Formats: map[string]stats.Cost{
				"csr":   {Bytes: 16 + 24, WarpIterations: ref(2), Work: ref(3)},
				"csc":   {Bytes: 40 + 24},
				"coo":   {Bytes: 32},
				"ell":   {Bytes: 24, WarpIterations: ref(2), Work: ref(3)},
				"ellr":  {Bytes: 28, WarpIterations: ref(2), Work: ref(3)},
				"pellr": {Bytes: 32, WarpIterations: ref(2), Work: ref(3)},
			},
		}},
		{"one long row", ofRows(t, 100, longRow...), stats.Stats{
			Rows: 70, Cols: 100, NNZ: 102, EmptyRows: 67, Bandwidth: 99, Lower: 69, Upper: 99,
			Row: stats.RowLengths{Max: 100, Mean: 102. / 70, StdDev: math.Sqrt(70*10002-102*102) / 70},
			// 98 columns hold 1 entry, 2 hold 2.
			PowerLawR: func() *float64 { r := math.Log(98./2) / math.Log(2); return &r }(),
			Formats: map[string]stats.Cost{
				"csr":   {Bytes: 8*71 + 12*102, WarpIterations: ref(1 + 100 + 1), Work: ref(1 + 199 + 1)},
				"csc":   {Bytes: 8*101 + 12*102},
				"coo":   {Bytes: 16 * 102},
				"ell":   {Bytes: 12 * 7000, Padding: 7000 - 102, WarpIterations: ref(300), Work: ref(70 * 199)},
				"ellr":  {Bytes: 12*7000 + 280, Padding: 7000 - 102, WarpIterations: ref(102), Work: ref(201)},
				"pellr": {Bytes: 12*7000 + 560, Padding: 7000 - 102, WarpIterations: ref(100), Work: ref(201)},
			},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := stats.Of(c.m)
			if c.want.PowerLawR != nil {
				require.InEpsilon(t, *c.want.PowerLawR, *got.PowerLawR, 1e-14)
				got.PowerLawR = c.want.PowerLawR
			}
			got.Formats = counted(got.Formats)
			got.RowCounts, got.ColCounts = nil, nil // TestLengthsAreCounted
			require.Equal(t, c.want, got)
		})
	}
}

func TestFloat32ValuesTakeFourBytes(t *testing.T) {
	m := &sparse.CSR[float32]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{0}, Val: []float32{1}}
	f := stats.Of(m).Formats
	require.Equal(t, m.Bytes(), f["csr"].Bytes)
	require.Equal(t, int64(8), f["ell"].Bytes)
}

func TestRowsOfFigure5OfThePELLRPaperGiveItsCounts(t *testing.T) {
	// Each row stands four times, since the warps of the figure are of 8 rows.
	// The two lists of the paper differ in one row (3 and 2 entries).
	for _, c := range []struct {
		lengths []int
		ellr    int64
		pellr   int64
		list    string
	}{
		{[]int{2, 3, 3, 4, 4, 4, 2, 4, 2, 3, 2, 3, 2, 3, 2, 2, 2, 2, 7, 3, 3, 3, 3, 3, 4, 3}, 18, 15, "ellr"},
		{[]int{7, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, 14, 14, "pellr"},
	} {
		var rows [][]int32
		work := int64(0)
		for _, n := range c.lengths {
			for range 4 {
				rows = append(rows, upTo(n))
				work += 2*int64(n) - 1
			}
		}
		f := stats.Of(ofRows(t, 7, rows...)).Formats
		require.Equal(t, c.ellr, *f["ellr"].WarpIterations, c.list)
		require.Equal(t, c.pellr, *f["pellr"].WarpIterations, c.list)
		require.Equal(t, work, *f["ellr"].Work, c.list)
		require.Equal(t, work, *f["pellr"].Work, c.list)
	}
}

func TestExactPowerLawGivesItsExponent(t *testing.T) {
	// 4096/k^2 columns with k entries, for k = 1, 2, 4, ..., 64.
	rows := make([][]int32, 64)
	col := int32(0)
	for k := 1; k <= 64; k *= 2 {
		for range 4096 / (k * k) {
			for i := range k {
				rows[i] = append(rows[i], col)
			}
			col++
		}
	}
	r := stats.Of(ofRows(t, int(col)+3, rows...)).PowerLawR
	require.InDelta(t, 2, *r, 1e-12)
}

func TestJSONHasTheNamesThatScriptsRelyOn(t *testing.T) {
	s := stats.Of(ofRows(t, 2, []int32{0, 1}))
	s.Formats = counted(s.Formats)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"rows": 1, "cols": 2, "nnz": 2, "row": {"min": 2, "max": 2, "mean": 2, "stddev": 0},
		"empty_rows": 0, "empty_cols": 0, "power_law_R": null,
		"bandwidth": 1, "lower_bandwidth": 0, "upper_bandwidth": 1,
		"formats": {
			"csr": {"bytes": 40, "padding": 0, "warp_iterations": 2, "work": 3},
			"csc": {"bytes": 48, "padding": 0, "warp_iterations": null, "work": null},
			"coo": {"bytes": 32, "padding": 0, "warp_iterations": null, "work": null},
			"ell": {"bytes": 24, "padding": 0, "warp_iterations": 2, "work": 3},
			"ellr": {"bytes": 28, "padding": 0, "warp_iterations": 2, "work": 3},
			"pellr": {"bytes": 32, "padding": 0, "warp_iterations": 2, "work": 3}
		}
	}`, string(text))
}

func TestAnyMatrixAgreesWithPlainCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(1, 80).Draw(t, "cols")
		row := rapid.SliceOfN(rapid.Int32Range(0, int32(cols-1)), 0, 40)
		rows := rapid.SliceOfN(row, 1, 150).Draw(t, "rows")
		agreesWithPlainCounting(t, ofRows(t, cols, rows...))
	})
}

func TestResultsDoNotDependOnTheNumberOfGoroutines(t *testing.T) {
	// Large enough for several goroutines in every pass, with one long row and one long
	// column.
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 200_000
	rows := make([][]int32, n)
	for i := range rows {
		rows[i] = append(rows[i], 7)
		for range rng.IntN(6) {
			rows[i] = append(rows[i], int32(rng.IntN(n)))
		}
	}
	rows[n/3] = upTo(n)
	m := ofRows(t, n, rows...)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := stats.Of(m)
	agreesWithPlainCounting(t, m)
	for _, workers := range []int{2, 3, 5, 16} {
		runtime.GOMAXPROCS(workers)
		require.Equal(t, one, stats.Of(m), "%d", workers)
	}
}

// agreesWithPlainCounting compares with loops that are easy to check.
func agreesWithPlainCounting(t require.TestingT, m *sparse.CSR[float64]) {
	got := stats.Of(m)
	var lengths []int64
	inCol := make([]int64, m.Cols)
	var lower, upper, work, sum, emptyRows, emptyCols int64
	for i := range m.Rows {
		n := m.RowPtr[i+1] - m.RowPtr[i]
		lengths = append(lengths, n)
		sum += n
		if n == 0 {
			emptyRows++
		} else {
			work += 2*n - 1
		}
		for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]] {
			inCol[j]++
			lower, upper = max(lower, int64(i)-int64(j)), max(upper, int64(j)-int64(i))
		}
	}
	for _, n := range inCol {
		if n == 0 {
			emptyCols++
		}
	}
	mean, squares := float64(sum)/float64(m.Rows), 0.
	for _, n := range lengths {
		squares += (float64(n) - mean) * (float64(n) - mean)
	}
	require.Equal(t, []int64{slices.Min(lengths), slices.Max(lengths), emptyRows, emptyCols, lower, upper, max(lower, upper)},
		[]int64{got.Row.Min, got.Row.Max, got.EmptyRows, got.EmptyCols, got.Lower, got.Upper, got.Bandwidth})
	require.InDelta(t, mean, got.Row.Mean, 1e-13*(1+mean))
	require.InEpsilon(t, 1+math.Sqrt(squares/float64(m.Rows)), 1+got.Row.StdDev, 1e-9)

	require.Equal(t, iterations(lengths), *got.Formats["ellr"].WarpIterations)
	require.Equal(t, work, *got.Formats["ellr"].Work)
	slices.SortFunc(lengths, func(a, b int64) int { return int(b - a) })
	require.Equal(t, iterations(lengths), *got.Formats["pellr"].WarpIterations)
	require.Equal(t, work, *got.Formats["pellr"].Work)
}

// iterations is Equation (1).
func iterations(lengths []int64) (sum int64) {
	for warp := range slices.Chunk(lengths, 32) {
		sum += slices.Max(warp)
	}
	return sum
}
