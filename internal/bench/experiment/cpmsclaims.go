package experiment

import (
	"fmt"
	"math"
)

// Relative errors up to which a figure counts as reproduced, and as roughly reproduced.
const (
	sameWithin  = 0.10
	aboutWithin = 0.25
)

// beside compares a figure with the paper's and gives a verdict by the error.
func beside(ours, theirs float64) string { return besideAs(ours, theirs, true) }

// gainBeside is beside for speed-ups: a slow-down never reproduces a speed-up, however small both are.
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

// holds states whether a claim of the paper holds in n of the given number of cases.
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
