package cpu

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// parking puts a thread to sleep by a futex.
type parking struct{}

// The operations of futex(2), among the threads of this process only.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

func newParking() parking { return parking{} }

// park sleeps while word is 1.
func (parking) park(word *atomic.Uint32) {
	for word.Load() == 1 {
		// Whatever ends it, a signal or a word that has changed already, word tells.
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, 1, 0, 0, 0)
	}
}

// unpark wakes who sleeps on word, which is no longer 1.
func (parking) unpark(word *atomic.Uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}

// yield lets other threads have the CPU.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
