//go:build cgo

package main

/*
#include "shim.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

// call runs f and converts its error, or a panic, to a status. It stores the message for msrep_last_error.
func call(f func() error) C.msrep_status {
	err := guard(f)
	if err == nil {
		return C.MSREP_OK
	}
	text := C.CString(strings.Join(strings.Fields(err.Error()), " "))
	C.keep_last_error(text)
	C.free(unsafe.Pointer(text))
	return statusOf(err)
}

func statusOf(err error) C.msrep_status {
	var (
		unsolved *solver.SystemError // may wrap errors of the other kinds
		gaveUp   *solver.ConvergenceError
		device   *kernels.DeviceError
		singular *factor.SingularError
		rough    *factor.AccuracyError
		early    *unconverged
	)
	switch {
	case errors.Is(err, errStopped):
		return C.MSREP_STOPPED
	case errors.Is(err, errHandle), errors.Is(err, msrep.ErrClosed):
		return C.MSREP_BAD_HANDLE
	case errors.As(err, &unsolved):
		return C.MSREP_NOT_CONVERGED
	case sparse.IsInput(err), errors.As(err, &singular):
		return C.MSREP_BAD_INPUT
	case errors.As(err, &device):
		return C.MSREP_DEVICE_ERROR
	case errors.As(err, &gaveUp), errors.As(err, &rough), errors.As(err, &early):
		return C.MSREP_NOT_CONVERGED
	}
	return C.MSREP_FAILED
}

// guard runs f and returns a panic or a memory fault as an error.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %w", crash.Recovered(r))
		}
	}()
	return f()
}

// unconverged is the error of an iteration that reached its limit.
type unconverged struct {
	iterations int
	residual   float64
}

func (e *unconverged) Error() string {
	return fmt.Sprintf("not converged after %d iterations: the last two iterates differ by %.3g in the 1-norm", e.iterations, e.residual)
}
