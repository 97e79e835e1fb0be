// Package lostfile recognises panics of mapped files that can no longer be read.
package lostfile

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Error turns r, the value of a recovered panic, into a *sparse.InputError if the panic came from reading a mapped file
// that can no longer be read: the disk failed, or another program shortened the file. For other panics it returns nil.
// Reading such a file panics only if debug.SetPanicOnFault is set; otherwise it ends the program.
func Error(r any) error {
	fault, ok := r.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	name, ok := mem.FileOf(fault.Addr())
	if !ok {
		return nil
	}
	return sparse.Inputf(name, "cannot be read any more: the disk failed, or another program cut the file")
}
