package form

import "fmt"

// An Estimate is the expected size of a form, computed from a sample of the rows.
type Estimate struct {
	EntryBytes float64 // bytes that a product reads per entry of the matrix, without x and y
	Padding    float64 // slots without an entry, per entry
}

// String returns the reason for a form with this estimate.
func (e *Estimate) String() string {
	return fmt.Sprintf("at most %.1f bytes for each entry, by a sample", e.EntryBytes)
}

// Samples is the number of ranges of rows that estimates inspect.
const Samples = 16

// NewEstimate returns the Estimate for a sample with these counts.
func NewEstimate(bytes float64, places, entries int64) Estimate {
	n := float64(max(entries, 1))
	return Estimate{EntryBytes: bytes / n, Padding: float64(places-entries) / n}
}
