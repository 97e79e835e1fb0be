//go:build cuda

package nvidiatest

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "control.h"
import "C"

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
	"unsafe"
)

//go:embed lib
var source embed.FS

// Built is the path of a library that Build compiled.
type Built string

// Build compiles the library into a folder.
func Build(dir string) (Built, error) {
	if _, err := exec.LookPath("gcc"); err != nil {
		return "", errors.New("building the stand-in for the driver needs gcc")
	}
	if err := os.CopyFS(filepath.Join(dir, "source"), source); err != nil {
		return "", err
	}
	out := filepath.Join(dir, "libcuda-stand-in.so")
	src := filepath.Join(dir, "source", "lib")
	cmd := exec.Command("gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", out,
		filepath.Join(src, "cuda.c"), filepath.Join(src, "links.c"), filepath.Join(src, "sparse.c"), "-lpthread")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, text)
	}
	return Built(out), nil
}

// Env returns the environment of a process that uses the library as its driver.
func (b Built) Env() []string {
	return append(os.Environ(), "MSREP_LIBCUDA="+string(b), "MSREP_LIBCUSPARSE="+string(b))
}

// Attached reports whether the driver of this process is the library, and connects its
// launches to the interpreter. After Hide it returns false.
func Attached() bool { return !hidden && attach(false) }

var hidden bool

// Hide connects the launches to the interpreter, and makes tests treat the library as
// the driver of a GPU: they then use nothing else of this package.
func Hide() { hidden = attach(true) }

func attach(hide bool) bool {
	path := C.CString(os.Getenv("MSREP_LIBCUDA"))
	defer C.free(unsafe.Pointer(path))
	return C.nvidiatest_attach(path, truth(hide)) == 0
}

// Machine is the machine that the library simulates.
type Machine struct {
	GPUs    int
	Memory  int64 // bytes of each GPU
	Others  int64 // bytes of each GPU that other programs use
	NoPools bool  // no allocation in stream order
	NoPeers bool  // no access of one GPU to another's memory
	// Links names the links between the GPUs: "nvswitch" (the default), "pcie", "none", "summit", "dgx1v", or
	// "dgx1v-ranks", in which the driver ranks two NVLinks before one.
	Links string
	Each  []GPU // by ordinal; may be shorter than GPUs

	OpenTime time.Duration // that it takes to open the context of a GPU
}

// GPU is one GPU of a Machine. Zero values are those of the Machine.
type GPU struct {
	Memory  int64   // bytes
	Compute int     // 10 times the compute capability
	Refuses int     // error of the driver when a context is opened
	Rate    float64 // bytes that a copy moves in a second; events of the GPU then count only the time of its work
}

// Reset resets the library to machine m. No device may be open.
func Reset(m Machine) {
	C.nvidiatest_reset(C.int(m.GPUs), C.size_t(m.Memory), C.size_t(m.Others), truth(!m.NoPools), truth(!m.NoPeers))
	for i, g := range m.Each {
		C.nvidiatest_gpu(C.int(i), C.size_t(g.Memory), C.int(g.Compute), C.int(g.Refuses), C.double(g.Rate/1e3))
	}
	C.nvidiatest_open_time(C.int(m.OpenTime.Milliseconds()))
	if m.Links == "" {
		return
	}
	name := C.CString(m.Links)
	defer C.free(unsafe.Pointer(name))
	if C.nvidiatest_machine(name) == 0 {
		panic("nvidiatest: no machine " + m.Links)
	}
}

// Lie is a set of ways in which direct access from one GPU to another is wrong although
// all calls succeed.
type Lie int

// The elements of a Lie. Without Stale, copies leave the destination as it is, and
// kernels read zeros.
const (
	LiePull  Lie = 1 << iota // copies that the destination makes
	LiePush                  // copies that the source makes
	LieRead                  // reads of kernels
	OnlyPool                 // only of memory of the pool
	Stale                    // data of the first access to an address
)

// SetLie makes direct access of GPU to to the memory of GPU from wrong, until the next
// Reset; 0 makes it right. Accesses through the host stay right.
func SetLie(from, to int, l Lie) { C.nvidiatest_lie(C.int(from), C.int(to), C.int(l)) }

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// Lose loses the context of a GPU: its work never ends, and all its calls return code.
func Lose(gpu, code int) { C.nvidiatest_lose(C.int(gpu), C.int(code)) }

// Fail makes the nth call from now of an entry point return code; nth = 0 means that
// none fails. It resets the counts of Calls.
func Fail(entry string, nth, code int) {
	name := C.CString(entry)
	defer C.free(unsafe.Pointer(name))
	C.nvidiatest_fail(name, C.int(nth), C.int(code))
}

// Calls returns the number of calls of each entry point since the last Fail; none on a
// GPU.
func Calls() map[string]int {
	out := map[string]int{}
	for i := 0; ; i++ {
		var name *C.char
		n := C.nvidiatest_calls(C.int(i), &name)
		if n < 0 {
			return out
		}
		out[C.GoString(name)] = int(n)
	}
}

// kinds names the counted objects, in the order of the library.
var kinds = []string{"memory", "streams", "events", "modules and descriptors", "pinned ranges", "left to the context"}

// Live returns the number of unreleased objects of each kind. Objects that a context
// freed at its release count as "left to the context", unless the context was lost. The
// users of each context follow: of the primary contexts of 16 GPUs, then of others.
func Live() map[string]int {
	out := map[string]int{}
	for i := 0; ; i++ {
		n := int(C.nvidiatest_live(C.int(i)))
		switch {
		case n < 0:
			return out
		case n > 0 && i < len(kinds):
			out[kinds[i]] = n
		case n > 0:
			out[fmt.Sprintf("users of context %d", i-len(kinds))] = n
		}
	}
}
