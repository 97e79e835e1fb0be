//go:build cgo

package main

// #include "shim.h"
import "C"

import "runtime/cgo"

// runBy returns the msrep.Config.Run that calls a function of the caller.
func runBy(run C.msrep_runner) func(n int, f func(i int)) {
	return func(n int, f func(i int)) {
		h := cgo.NewHandle(f)
		defer h.Delete()
		C.call_runner(run, C.int(n), C.uintptr_t(h))
	}
}

// msrepgo_piece runs a piece on a thread of the caller. It ignores a call after the runner has returned; the pool reports
// missing calls and panics of f.
//
//export msrepgo_piece
func msrepgo_piece(i C.int, f C.uintptr_t) {
	_ = guard(func() error {
		cgo.Handle(f).Value().(func(i int))(int(i))
		return nil
	})
}
