// Package space has the vectors of a solve, in host memory or on devices, and the operations on them. Methods of package
// solver use vectors through the interface Space only, so that each method runs on all of them, and over several
// processes.
package space
