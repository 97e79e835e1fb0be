package cpu

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
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
