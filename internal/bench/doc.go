// Package bench measures whole operations for msrep bench, which reports the results of CPUPeers, PELLR and the other
// types here.
package bench
