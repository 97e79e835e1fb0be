package cpu

import (
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
// better off: until then no other leaves its own, or two would swap. Where one leaves
// soon after that time it did not help: somebody else keeps a CPU busy. The time is then
// twice as long, up to settleMost.
const (
	settleTime = time.Millisecond
	settleMost = 8 * time.Second
)

// move is when a thread left its CPU, and how long none may leave its own.
type move struct {
	at     time.Time
	settle time.Duration
}

// left is when a thread of the process left its CPU last, or would have.
var left atomic.Pointer[move]

// after is the move that may follow m, which is nil before the first, at this time; nil
// where it is too soon.
func (m *move) after(now time.Time) *move {
	next := &move{now, settleTime}
	if m == nil {
		return next
	}
	switch since := now.Sub(m.at); {
	case since < m.settle:
		return nil
	case since < 2*m.settle:
		next.settle = min(2*m.settle, settleMost)
	}
	return next
}

// leaveCPU moves the calling thread to another of the CPUs that it may run on, if one may
// be idle. Beside another program it would wait for that at every turn, which is worse
// than to share a CPU with the threads it works with.
func leaveCPU() {
	last := left.Load()
	next := last.after(time.Now())
	if next == nil || !left.CompareAndSwap(last, next) {
		return
	}
	if running() > runtime.NumCPU() {
		left.CompareAndSwap(next, &move{next.at, settleTime}) // none was made: look again soon
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, err := numa.Affinity()
	if err != nil {
		return
	}
	here := currentCPU()
	others := slices.DeleteFunc(slices.Clone(all), func(c int) bool { return int32(c) == here })
	if len(others) > 0 && numa.Pin(others) == nil { // which moves it at once
		_ = numa.Pin(all)
	}
}

// currentCPU is the CPU that the calling thread runs on, -1 where nothing tells.
func currentCPU() int32 {
	var cpu uint32
	if _, _, failed := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); failed != 0 {
		return -1
	}
	return int32(cpu)
}

// running is countRunning; it is replaced in tests.
var running = countRunning

// countRunning is how many threads of the system run or want to; very many where nothing
// tells.
func countRunning() int {
	b, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(b)); err == nil && len(f) > 3 { // 0.20 0.18 0.12 1/80 11206
		now, _, _ := strings.Cut(f[3], "/")
		if n, err := strconv.Atoi(now); err == nil {
			return n
		}
	}
	return math.MaxInt
}
