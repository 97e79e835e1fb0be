package sparse

import (
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/internal/par"
)

// validateCompressed checks the arrays of CSR (majors are rows) and CSC (majors are
// columns).
func validateCompressed(major, minor string, majors, minors int, ptr []int64, idx []int32, nval int) error {
	if majors < 0 {
		return Inputf("matrix", "%d %ss: a size must not be negative", majors, major)
	}
	if err := checkDim(minor+"s", minors); err != nil {
		return err
	}
	if len(idx) != nval {
		return Inputf("matrix", "%d %s indices and %d values: these must be equal", len(idx), minor, nval)
	}
	if len(ptr)-1 != majors {
		return Inputf("matrix", "%d %s pointers for %d %ss: there must be one more than %ss", len(ptr), major, majors, major, major)
	}
	if ptr[0] != 0 || ptr[majors] != int64(nval) {
		return Inputf("matrix", "%s pointers run from %d to %d: they must run from 0 to the number of entries, %d", major, ptr[0], ptr[majors], nval)
	}
	var f firstFault
	par.Range(int64(majors), 1<<15, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			if ptr[i] > ptr[i+1] {
				f.set(i, Inputf("matrix", "%s pointer %d falls from %d to %d", major, i+1, ptr[i], ptr[i+1]))
				return
			}
		}
	})
	if f.err != nil {
		return f.err
	}
	return checkIndices(minor, idx, minors)
}

func checkDim(name string, n int) error {
	if n < 0 {
		return Inputf("matrix", "%d %s: a size must not be negative", n, name)
	}
	if n > MaxDim {
		return Inputf("matrix", "%d %s: more than %d are not supported (indices are 32 bits wide)", n, name, MaxDim)
	}
	return nil
}

func checkIndices(name string, idx []int32, n int) error {
	var f firstFault
	par.Range(int64(len(idx)), 1<<16, func(lo, hi int64) {
		for k, j := range idx[lo:hi] {
			if uint32(j) >= uint32(n) { // also catches negative indices
				f.set(lo+int64(k), Inputf("matrix", "entry %d: %s index %d is outside [0, %d)", lo+int64(k), name, j, n))
				return
			}
		}
	})
	return f.err
}

// firstFault keeps the error with the smallest position, so the message does not depend
// on how a loop was divided.
type firstFault struct {
	mu  sync.Mutex
	at  int64
	err error
}

func (f *firstFault) set(at int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || at < f.at {
		f.at, f.err = at, err
	}
}

func compressedBytes[V Value](ptr []int64, idx []int32, val []V) int64 {
	var v V
	return 8*int64(len(ptr)) + 4*int64(len(idx)) + int64(unsafe.Sizeof(v))*int64(len(val))
}
