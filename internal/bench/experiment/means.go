package experiment

import (
	"fmt"
	"math"
)

// geometricMean returns the geometric mean of positive numbers; NaN for none.
func geometricMean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}

// columnMeans returns the geometric mean of each column.
func columnMeans(rows [][]float64) (means []float64) {
	for k := range rows[0] {
		var column []float64
		for _, row := range rows {
			column = append(column, row[k])
		}
		means = append(means, geometricMean(column))
	}
	return means
}

// knownMeans formats the geometric mean of the numbers in each column that are not NaN, with their count if some are
// missing.
func knownMeans(rows [][]float64) (cells []string) {
	for k := range rows[0] {
		var column []float64
		for _, row := range rows {
			if !math.IsNaN(row[k]) {
				column = append(column, row[k])
			}
		}
		cell := meanRow("", []float64{geometricMean(column)})[1]
		if n := len(column); n > 0 && n < len(rows) {
			cell += fmt.Sprintf(" (%d of %d)", n, len(rows))
		}
		cells = append(cells, cell)
	}
	return cells
}

// withMeans appends a row of geometric means.
func withMeans(v [][]float64) [][]float64 { return append(v, columnMeans(v)) }
