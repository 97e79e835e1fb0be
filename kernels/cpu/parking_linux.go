package cpu

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/numa"
)

// threadsPark says that a thread can sleep until another wakes it.
const threadsPark = true

// The operations of futex(2), among the threads of this process only.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// park sleeps while word has this value.
func park(word *atomic.Uint32, value uint32) {
	for word.Load() == value {
		// Whatever ends it, a signal or a word that has changed already, word tells.
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), 0, 0, 0)
	}
}

// unpark wakes who sleeps on word, which has changed.
func unpark(word *atomic.Uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}

// yield lets other threads have the CPU.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// settleTime is how long a thread that has left its CPU may take to show that it is
// better off: until then no other leaves its own, or two would swap.
const settleTime = time.Millisecond

// left is when a thread of the process left its CPU last.
var left atomic.Pointer[time.Time]

// leaveCPU moves the calling thread to another of the CPUs that it may run on.
func leaveCPU() {
	now, last := time.Now(), left.Load()
	if last != nil && now.Sub(*last) < settleTime || !left.CompareAndSwap(last, &now) {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, err := numa.Affinity()
	if err != nil {
		return
	}
	here := currentCPU()
	others := slices.DeleteFunc(slices.Clone(all), func(c int) bool { return c == here })
	if len(others) > 0 && numa.Pin(others) == nil { // which moves it at once
		_ = numa.Pin(all)
	}
}

// currentCPU is the CPU that the calling thread runs on, -1 where nothing tells.
func currentCPU() int {
	var cpu uint32
	if _, _, failed := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); failed != 0 {
		return -1
	}
	return int(cpu)
}
