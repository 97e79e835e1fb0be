//go:build !cgo

package main

import (
	"os"

	"github.com/msrep-go/msrep/msrep"
)

// main reports that the C library needs cgo.
func main() {
	os.Stderr.WriteString("libmsrep " + msrep.Version + " is a C library: build it with cgo and -buildmode=c-shared\n")
	os.Exit(2)
}
