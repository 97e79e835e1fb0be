package stats

import "github.com/msrep-go/msrep/sparse/ellpack"

// addShapes adds the formats of sparse/ellpack that formats lacks.
func addShapes(formats map[string]Cost, rowPtr []int64, valueBytes int64) {
	l, err := ellpack.Measure(rowPtr, 0, rowPtr[len(rowPtr)-1], ellpack.Options{})
	if err != nil {
		return // too many rows, or entries in one
	}
	for _, f := range ellpack.Formats() {
		if _, ok := formats[string(f)]; ok {
			continue
		}
		s, _ := l.Shape(f, valueBytes)
		formats[string(f)] = Cost{Bytes: s.Bytes(valueBytes), Padding: s.Padding(), WarpIterations: &s.Steps, Work: &s.Work}
	}
}
