// Package measure times operations and compares the times.
//
// Repeat warms up, then repeats until the median is known to a given relative error. It drops no sample: a Summary
// has the median with its interval, the extremes, and the number of outliers. Compare reports whether two sets of
// samples differ by more than a tolerance, with an interval for the ratio. Machine describes the machine of a run,
// with the two figures that a time is compared with: Bandwidth, the speed of the memory, and ClockCost, the cost of
// reading the clock.
//
// Intervals assume no distribution, because times of programs are skewed and have heavy tails. Only ComparePaired
// assumes that ratios are distributed symmetrically.
package measure
