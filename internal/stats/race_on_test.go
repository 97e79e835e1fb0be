//go:build race

package stats_test

// raceEntries limits the real matrices for the race detector, which reads ten times as
// slowly.
const raceEntries = 50_000
