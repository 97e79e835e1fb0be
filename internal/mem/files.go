package mem

import (
	"sync"
	"unsafe"
)

// mappedFiles holds the memory that is mapped from files, and their names.
var mappedFiles = struct {
	mu  sync.Mutex
	all map[*mappedFile]bool
}{all: map[*mappedFile]bool{}}

type mappedFile struct {
	data []byte
	name string
}

// NameFile records that b is mapped from the file name, for FileOf, until forget is called.
func NameFile(b []byte, name string) (forget func()) {
	f := &mappedFile{b, name}
	mappedFiles.mu.Lock()
	defer mappedFiles.mu.Unlock()
	mappedFiles.all[f] = true
	return func() {
		mappedFiles.mu.Lock()
		defer mappedFiles.mu.Unlock()
		delete(mappedFiles.all, f)
	}
}

// FileOf returns the name of the file that is mapped at an address.
func FileOf(address uintptr) (name string, ok bool) {
	mappedFiles.mu.Lock()
	defer mappedFiles.mu.Unlock()
	for f := range mappedFiles.all {
		if address-uintptr(unsafe.Pointer(unsafe.SliceData(f.data))) < uintptr(len(f.data)) {
			return f.name, true
		}
	}
	return "", false
}
