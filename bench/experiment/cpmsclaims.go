package experiment

import (
	"fmt"
	"math"
)

// Ratios to what the paper has that count as the same, and as about the same.
const (
	sameWithin  = 0.10
	aboutWithin = 0.25
)

// beside sets a figure beside the paper's, with a verdict by the error.
func beside(ours, theirs float64) string { return besideAs(ours, theirs, true) }

// gainBeside is beside for speed-ups: a loss does not reproduce a gain, however small both are.
func gainBeside(ours, theirs float64) string {
	return besideAs(ours, theirs, (ours > 1) == (theirs > 1))
}

func besideAs(ours, theirs float64, comparable bool) string {
	off := math.Abs(ours/theirs - 1)
	verdict := "not reproduced"
	switch {
	case !comparable:
	case off <= sameWithin:
		verdict = "reproduced"
	case off <= aboutWithin:
		verdict = "roughly reproduced"
	}
	return fmt.Sprintf("%.3g here, %.3g in the paper, %.1f %% off: %s", ours, theirs, 100*off, verdict)
}

// holds says whether what the paper says of a figure holds in n of so many cases.
func holds(claim string, n, of int) string {
	verdict := "does not hold"
	switch share := float64(n) / float64(of); {
	case share >= 1-sameWithin/2:
		verdict = "holds"
	case share >= 1-aboutWithin:
		verdict = "mostly holds"
	}
	return fmt.Sprintf("%s: %s, in %d of %d cases.", claim, verdict, n, of)
}
