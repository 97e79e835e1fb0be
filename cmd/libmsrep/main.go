//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"cmp"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func main() {}

var version = C.CString(msrep.Version)

//export msrepgo_version
func msrepgo_version() *C.char { return version }

//export msrepgo_open
func msrepgo_open(devices *C.char, threads C.int, system *C.msrep_system) C.msrep_status {
	return call(func() error { return open(devices, threads, 0, nil, system) })
}

//export msrepgo_open_with
func msrepgo_open_with(options *C.msrep_open_options, system *C.msrep_system) C.msrep_status {
	return call(func() error {
		o, err := readStruct("options", options)
		if err != nil {
			return err
		}
		return open(o.devices, o.threads, o.flags, o.run, system)
	})
}

func open(devices *C.char, threads, flags C.int, run C.msrep_runner, system *C.msrep_system) error {
	if system == nil {
		return isNull("system")
	}
	*system = 0
	if err := checkFlags(flags, C.MSREP_YIELD); err != nil {
		return err
	}
	c := msrep.Config{Devices: cmp.Or(text(devices), "auto"), Threads: int(threads), Yield: flags != 0}
	if run != nil {
		c.Run = runBy(run)
	}
	sys, err := msrep.Open(c)
	if err != nil {
		return err
	}
	*system = C.msrep_system(handles.add(&openSystem{sys: sys, runsOnCaller: run != nil}))
	return nil
}

//export msrepgo_close
func msrepgo_close(handle C.uint64_t) C.msrep_status {
	return call(func() error { return handles.close(uint64(handle)) })
}

//export msrepgo_stop
func msrepgo_stop(handle C.uint64_t) C.msrep_status {
	return call(func() error {
		if _, err := get[closer](uint64(handle)); err != nil {
			return err
		}
		stop(uint64(handle), errByStop)
		return nil
	})
}

// checkFlags refuses flags other than those in known.
func checkFlags(flags, known C.int) error {
	switch {
	case flags&^known == 0:
		return nil
	case known == C.MSREP_YIELD:
		return sparse.Inputf("flags", "%d: use 0 or MSREP_YIELD", int(flags))
	case known == 0:
		return sparse.Inputf("flags", "%d: use 0", int(flags))
	case known == C.MSREP_DETERMINISTIC:
		return sparse.Inputf("flags", "%d: use 0 or MSREP_DETERMINISTIC", int(flags))
	}
	return sparse.Inputf("flags", "%d: use 0, MSREP_DETERMINISTIC, MSREP_BORROW or both", int(flags))
}
