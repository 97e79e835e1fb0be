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
	"unsafe"
)

//go:embed lib
var source embed.FS

// Built is a library that Build made.
type Built string

// Build compiles the library into a folder.
func Build(dir string) (Built, error) {
	if _, err := exec.LookPath("gcc"); err != nil {
		return "", errors.New("no gcc to build the stand-in for the driver with")
	}
	if err := os.CopyFS(filepath.Join(dir, "source"), source); err != nil {
		return "", err
	}
	out := filepath.Join(dir, "libcuda-stand-in.so")
	src := filepath.Join(dir, "source", "lib")
	cmd := exec.Command("gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", out,
		filepath.Join(src, "cuda.c"), filepath.Join(src, "sparse.c"), "-lpthread")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, text)
	}
	return Built(out), nil
}

// Env is the environment of a process that shall have the library for its driver.
func (b Built) Env() []string {
	return append(os.Environ(), "MSREP_LIBCUDA="+string(b), "MSREP_LIBCUSPARSE="+string(b))
}

// Attached reports whether the driver of this process is the library, and connects
// its launches to the interpreter. After Hide it says no.
func Attached() bool { return !hidden && attach(false) }

var hidden bool

// Hide connects the launches, too, and makes tests take the library for the driver of a
// GPU: they then run as they do on one, without anything else of this package.
func Hide() { hidden = attach(true) }

func attach(hide bool) bool {
	path := C.CString(os.Getenv("MSREP_LIBCUDA"))
	defer C.free(unsafe.Pointer(path))
	return C.nvidiatest_attach(path, truth(hide)) == 0
}

// Machine is what the library pretends to be.
type Machine struct {
	GPUs    int
	Memory  int64 // bytes of each
	Others  int64 // what of them other programs have
	NoPools bool  // no allocation in the order of streams
	NoPeers bool  // no access of one GPU to another's memory
}

// Reset forgets all that happened. No device may be open.
func Reset(m Machine) {
	C.nvidiatest_reset(C.int(m.GPUs), C.size_t(m.Memory), C.size_t(m.Others), truth(!m.NoPools), truth(!m.NoPeers))
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// Fail makes the nth call of an entry point from now on give a result other than
// success; with nth = 0 none does. The counts of Calls begin anew.
func Fail(entry string, nth, code int) {
	name := C.CString(entry)
	defer C.free(unsafe.Pointer(name))
	C.nvidiatest_fail(name, C.int(nth), C.int(code))
}

// Calls counts the calls of each entry point since the last Fail; none on a GPU.
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

// kinds of what is counted, in the order of the library.
var kinds = []string{"memory", "streams", "events", "modules and descriptors", "pinned ranges", "left to the context", "users of context 0", "users of context 1"}

// Live counts what was made and not released. Memory and the like that a context
// took along when it was released counts as "left to the context", unless the
// context was lost.
func Live() map[string]int {
	out := map[string]int{}
	for i, k := range kinds {
		if n := int(C.nvidiatest_live(C.int(i))); n != 0 {
			out[k] = n
		}
	}
	return out
}
