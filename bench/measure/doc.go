// Package measure times things so that the figures can be trusted and compared.
//
// Repeat warms up, then repeats until the median is known to a given relative
// error. Nothing is dropped: a Summary has the median with its interval, the
// extremes, and the number of outliers. Compare says whether two sets of samples
// differ by more than a tolerance, with an interval for the ratio. Machine
// describes where a run was made. Its Bandwidth and ClockCost are the two things
// that times are judged by: the speed of the memory, and the cost of the clock.
//
// Intervals need no assumptions about the distribution (that of ComparePaired, that
// ratios lie symmetrically): times of programs are skewed and have heavy tails.
package measure
