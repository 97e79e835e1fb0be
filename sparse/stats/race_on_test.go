//go:build race

package stats_test

// raceEntries bounds the real matrices that the race detector, which is an
// order slower, has to read.
const raceEntries = 50_000
