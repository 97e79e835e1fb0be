// Package bench holds benchmarks of whole operations. Those of single functions
// stand beside them in their packages.
package bench
