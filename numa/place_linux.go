package numa

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/sparse"
)

// maxNode is the largest node number that Bind accepts: Linux is built for at most 1024
// nodes.
const maxNode = 1023

// Pin restricts the calling thread to these CPUs (sched_setaffinity). The goroutine must
// lock its thread with runtime.LockOSThread, and should end without unlocking it: the
// thread then ends too, and no other goroutine inherits the CPUs. An empty list or a
// number out of range is a *sparse.InputError. If the kernel does not allow the call, the
// error wraps ErrRefused.
func Pin(cpus []int) error {
	if len(cpus) == 0 {
		return sparse.Inputf("CPUs", "none given: a thread needs one to run on")
	}
	set := unix.NewCPUSet(MaxCPU + 1)
	for _, c := range cpus {
		if c < 0 || c > MaxCPU {
			return sparse.Inputf("CPUs", "%d: CPUs are numbered 0 to %d", c, MaxCPU)
		}
		set.Set(c)
	}
	if err := unix.SchedSetaffinityDynamic(0, set); err != nil {
		return refused("sched_setaffinity", err)
	}
	return nil
}

// Affinity returns the CPUs that the calling thread may run on. Its error wraps ErrRefused.
func Affinity() ([]int, error) {
	cpus, ok := allowedCPUs()
	if !ok {
		return nil, refused("sched_getaffinity", unix.ENOSYS)
	}
	return cpus, nil
}

// Bind requests that the pages of mem come from the memory of a node, whichever thread
// touches them first (mbind, MPOL_PREFERRED). If the node is full, the kernel takes
// another one. Pages that were touched before stay where they are.
//
// mem should consist of whole pages, as from mmap: a page that mem covers in part is
// bound as a whole. A node out of range is a *sparse.InputError. If the node does not
// exist or is not allowed, the error wraps ErrRefused.
func Bind(mem []byte, node int) error {
	if err := checkNode(node); err != nil {
		return err
	}
	if len(mem) == 0 {
		return nil
	}
	return policy(mem, unix.MPOL_PREFERRED, []int{node})
}

// Interleave requests that the pages of mem come from the memory of these nodes, one page
// from each node in rotation, whichever thread touches them first (mbind,
// MPOL_INTERLEAVE). A huge page comes from one node. Nodes that do not exist or are not
// allowed are left out; if none remains, the error wraps ErrRefused. The rest is as for
// Bind.
func Interleave(mem []byte, nodes []int) error {
	if len(nodes) == 0 {
		return sparse.Inputf("nodes", "none given: memory needs one to come from")
	}
	for _, n := range nodes {
		if err := checkNode(n); err != nil {
			return err
		}
	}
	if len(mem) == 0 {
		return nil
	}
	return policy(mem, unix.MPOL_INTERLEAVE, nodes)
}

// Prefer makes the memory that the calling thread touches first come from a node
// (set_mempolicy, MPOL_PREFERRED). This includes memory that a library or the kernel
// allocates for the thread, but not memory given to Bind or Interleave. As for Pin, the
// goroutine must lock its thread. Errors are those of Bind.
func Prefer(node int) error {
	if err := checkNode(node); err != nil {
		return err
	}
	mask := nodeMask([]int{node})
	_, _, errno := unix.Syscall(unix.SYS_SET_MEMPOLICY, unix.MPOL_PREFERRED, uintptr(unsafe.Pointer(&mask)), maskBits)
	if errno != 0 {
		return refused("set_mempolicy", errno)
	}
	return nil
}

// maskBits is the size of a set of nodes as the system calls take it: the kernel
// subtracts one.
const maskBits = maxNode + 2

const wordBits = 8 * int(unsafe.Sizeof(uint(0)))

// nodeMask returns a set of nodes as the system calls take it.
func nodeMask(nodes []int) (mask [(maxNode + 1) / wordBits]uint) {
	for _, n := range nodes {
		mask[n/wordBits] |= 1 << (n % wordBits)
	}
	return mask
}

func checkNode(node int) error {
	if node < 0 || node > maxNode {
		return sparse.Inputf("node", "%d: nodes are numbered 0 to %d", node, maxNode)
	}
	return nil
}

// policy sets the memory policy of the pages of mem.
func policy(mem []byte, mode uintptr, nodes []int) error {
	mask := nodeMask(nodes)
	first, bytes := pageSpan(mem)
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, first, bytes, mode, uintptr(unsafe.Pointer(&mask)), maskBits, 0)
	if errno != 0 {
		return refused("mbind", errno)
	}
	return nil
}

// Pages counts the pages of mem by node (move_pages, which only queries here). Errors
// wrap ErrRefused.
func Pages(mem []byte) (PageCount, error) {
	count := PageCount{Nodes: map[int]int{}}
	if len(mem) == 0 {
		return count, nil
	}
	const batch = 4096
	var at [batch]uintptr
	var status [batch]int32
	size := uintptr(os.Getpagesize())
	first, bytes := pageSpan(mem)
	for end := first + bytes; first < end; {
		n := uintptr(0)
		for ; n < batch && first < end; n++ {
			at[n] = first
			first += size
		}
		_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, n,
			uintptr(unsafe.Pointer(&at)), 0, uintptr(unsafe.Pointer(&status)), 0)
		if errno != 0 {
			return PageCount{}, refused("move_pages", errno)
		}
		for _, s := range status[:n] {
			if s >= 0 {
				count.Nodes[int(s)]++
			} else {
				count.Missing++
			}
		}
	}
	return count, nil
}

// pageSpan returns the address of the first page of mem and the size of all its pages in
// bytes.
func pageSpan(mem []byte) (first, bytes uintptr) {
	size := uintptr(os.Getpagesize())
	start := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	first = start &^ (size - 1)
	return first, (start + uintptr(len(mem)) - first + size - 1) &^ (size - 1)
}
