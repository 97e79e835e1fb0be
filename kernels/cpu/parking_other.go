//go:build !linux

package cpu

import "sync/atomic"

// threadsPark says that nothing here wakes a thread; the functions below have no use.
const threadsPark = false

func park(*atomic.Uint32, uint32) {}

func unpark(*atomic.Uint32) {}

// yield does nothing: runtime.Gosched would have two workers share a thread.
func yield() {}

func leaveCPU() {}

// currentCPU is not known.
func currentCPU() int32 { return -1 }
