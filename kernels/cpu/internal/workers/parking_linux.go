package workers

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

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/numa"
)

// threadsPark is true where a thread can sleep until another wakes it.
const threadsPark = true

// futexWait and futexWake are operations of futex(2) among the threads of this process only.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// sleeper is a thread that sleeps until another one wakes it.
type sleeper struct {
	thread atomic.Int32 // its number; a goroutine may change threads between two sleeps
	moved  int          // the number of the thread whose CPUs the last wake has restricted; 0: none
	cpus   unix.CPUSet  // its CPUs before that
}

// park sleeps while state is threadAsleep, and returns once it is awake.
func (s *sleeper) park(state *atomic.Uint32) {
	for {
		switch state.Load() {
		case threadAsleep:
			s.thread.Store(int32(unix.Gettid()))
			// The call may end by a signal, or fail because state has changed.
			_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWait, threadAsleep, 0, 0, 0)
		case waking: // for a few system calls
			par.Yield()
		default:
			if s.moved != 0 {
				_ = unix.SchedSetaffinity(s.moved, &s.cpus)
			}
			return
		}
	}
}

// wake wakes the thread, which begins on another CPU than cpu if it may run on others. cpu is -1 if that does not matter.
// state is waking.
//
// While the CPUs are busy, Linux does not look for an idle one: it leaves the woken thread on the CPU of the one that wakes
// it, until a clock tick finds the two there, milliseconds later.
func (s *sleeper) wake(state *atomic.Uint32, cpu int32) {
	s.moved = 0
	if thread := int(s.thread.Load()); cpu >= 0 && thread != 0 && unix.SchedGetaffinity(thread, &s.cpus) == nil {
		others := s.cpus
		others.Clear(int(cpu))
		if others != s.cpus && others.Count() > 0 && unix.SchedSetaffinity(thread, &others) == nil {
			s.moved = thread
		}
	}
	state.Store(awake)
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWake, 1, 0, 0, 0)
}

// sliceTime is the shortest time slice that Linux gives.
const sliceTime = 100 * time.Microsecond

// shortSlice asks for time slices of sliceTime for the calling thread. Linux lets a woken thread with a shorter slice
// interrupt a thread in its slice; otherwise it would have to wait for up to 3 ms. Linux before 6.12 has slices of one
// length only and ignores this.
func shortSlice() {
	if attr, err := unix.SchedGetAttr(0, 0); err == nil && attr.Policy == unix.SCHED_NORMAL {
		attr.Runtime = uint64(sliceTime)
		_ = unix.SchedSetAttr(0, attr, 0)
	}
}

// threadSwitches returns how many times the calling thread has lost its CPU to another thread.
func threadSwitches() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return int64(u.Nivcsw)
}

// settleTime is how long no other thread leaves its CPU after a thread has left its own: otherwise two threads would
// swap CPUs. If a thread has to leave again soon after that time, the move did not help, because another program
// keeps a CPU busy. The time is then doubled, up to settleMost.
const (
	settleTime = time.Millisecond
	settleMost = 8 * time.Second
)

// move is when a thread left its CPU, and how long no other thread may leave its own.
type move struct {
	at     time.Time
	settle time.Duration
}

// left is the last move of a thread of the process, made or attempted.
var left atomic.Pointer[move]

// after returns the move that may follow m now, and nil if it is too soon. m is nil before the first move.
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

// leaveCPU moves the calling thread to another CPU that it may run on, if one may be idle. Beside another program it
// would wait for that program's time slices, which is worse than to share a CPU with the threads it works with.
func leaveCPU() {
	last := left.Load()
	next := last.after(time.Now())
	if next == nil || !left.CompareAndSwap(last, next) {
		return
	}
	if running() > runtime.NumCPU() {
		left.CompareAndSwap(next, &move{next.at, settleTime}) // no move was made: try again soon
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
	if len(others) > 0 && numa.Pin(others) == nil { // Pin moves the thread at once
		_ = numa.Pin(all)
	}
}

// currentCPU returns the CPU that the calling thread runs on, -1 if unknown.
func currentCPU() int32 {
	var cpu uint32
	if _, _, failed := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); failed != 0 {
		return -1
	}
	return int32(cpu)
}

// running is countRunning. Tests replace it.
var running = countRunning

// countRunning returns the number of threads of the system that run or want to, and a very large number if unknown.
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
