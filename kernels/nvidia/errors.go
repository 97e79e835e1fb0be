//go:build cuda

package nvidia

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// code returns the driver's number of an error, or of the first driver error that it
// wraps; 0 if there is none.
func code(err error) int {
	n, _ := result(err)
	return n
}

// result returns the number and the error that has it. The errors of gorgonia.org/cu
// are integers of a type that it does not export.
func result(err error) (int, error) {
	switch e := err.(type) {
	case nil:
		return 0, nil
	case driver.Error:
		return e.Code, e
	case *kernels.LostError: // the context of the caller may be intact
		return 0, nil
	case interface{ Unwrap() error }:
		return result(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if n, in := result(one); n != 0 {
				return n, in
			}
		}
		return 0, nil
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return int(v.Int()), err
	}
	return 0, nil
}

// These are error numbers of the driver (cuda.h, CUresult).
const (
	codeOutOfMemory    = 2
	codeUnavailable    = 46
	codeNotSupported   = 801
	codePeerEnabled    = 704
	codeNoBinaryForGPU = 209
	codeUnsupportedPTX = 222
)

// fatal has the errors after which a context is unusable.
var fatal = map[int]bool{
	4:   true, // deinitialized
	214: true, // uncorrectable ECC error
	220: true, // uncorrectable NVLink error
	226: true, // contained error
	700: true, // illegal address
	702: true, // launch timeout
	709: true, // context is destroyed
	710: true, // assert
	714: true, // hardware stack error
	715: true, // illegal instruction
	716: true, // misaligned address
	717: true, // invalid address space
	718: true, // invalid program counter
	719: true, // launch failed
	721: true, // leak of tensor memory
	999: true, // unknown
}

// describe adds the driver's text to its errors, and maps them to the errors of package
// kernels. It keeps the text before the driver's error.
func describe(err error) error {
	n, in := result(err)
	if n == 0 {
		return err
	}
	words := inWords(n)
	if before, ok := strings.CutSuffix(err.Error(), ": "+in.Error()); ok {
		return fmt.Errorf("%s: %w", before, words)
	}
	return words
}

func inWords(n int) error {
	e := driver.Error{Code: n}
	switch n {
	case codeOutOfMemory:
		return fmt.Errorf("%w: %w", kernels.ErrOutOfMemory, e)
	case codeNotSupported:
		return fmt.Errorf("%w: %w", kernels.ErrNotSupported, e)
	case codeUnavailable:
		return fmt.Errorf("another process may have the GPU for itself (compute mode \"exclusive\"): %w", e)
	case codeNoBinaryForGPU, codeUnsupportedPTX:
		return fmt.Errorf("%w: the kernels need compute capability 7.0 and a driver of CUDA 10.0 or newer: %w", kernels.ErrNotSupported, e)
	}
	return e
}
