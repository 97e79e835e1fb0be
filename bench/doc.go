// Package bench measures whole operations: as benchmarks of go test, and for msrep bench, which reports the results
// of CPUPeers, PELLR and the other types here. Benchmarks of single functions are in the packages of the functions.
package bench
