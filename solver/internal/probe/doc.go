// Package probe looks at a system for solver.Solve: at the traits of its matrix, and at how fast the residual of an attempt
// falls.
package probe
