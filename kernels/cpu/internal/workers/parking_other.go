//go:build !linux

package workers

import "sync/atomic"

// threadsPark is false: nothing here wakes a thread, and the functions below are not used.
const threadsPark = false

func park(*atomic.Uint32, uint32) {}

func unpark(*atomic.Uint32) {}

func leaveCPU() {}

func shortSlice() {}

// threadSwitches returns 0: the number is unknown.
func threadSwitches() int64 { return 0 }

// currentCPU returns -1: the CPU is unknown.
func currentCPU() int32 { return -1 }
