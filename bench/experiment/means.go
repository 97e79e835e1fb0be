package experiment

import "math"

// geometricMean of positive numbers; NaN of none.
func geometricMean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}

// columnMeans is the geometric mean of each column.
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

// knownMeans is columnMeans of the numbers that are not NaN.
func knownMeans(rows [][]float64) (means []float64) {
	for k := range rows[0] {
		var column []float64
		for _, row := range rows {
			column = append(column, row[k])
		}
		means = append(means, meanOf(column))
	}
	return means
}

// withMeans adds a row of geometric means.
func withMeans(v [][]float64) [][]float64 { return append(v, columnMeans(v)) }
