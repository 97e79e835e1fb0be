// Package bench measures whole operations: as benchmarks of go test, and for msrep
// bench, which reports what CPUPeers, PELLR and the others here find. Benchmarks of
// single functions stand beside them in their packages.
package bench
