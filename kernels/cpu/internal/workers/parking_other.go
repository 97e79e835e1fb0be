//go:build !linux

package workers

import "sync/atomic"

// threadsPark is false: nothing here wakes a thread, and the functions below are not used.
const threadsPark = false

type sleeper struct{}

func (*sleeper) park(*atomic.Uint32) {}

func (*sleeper) wake(*atomic.Uint32, int32) {}

func leaveCPU() {}

func shortSlice() {}

// threadSwitches returns 0: the number is unknown.
func threadSwitches() int64 { return 0 }

// currentCPU returns -1: the CPU is unknown.
func currentCPU() int32 { return -1 }
