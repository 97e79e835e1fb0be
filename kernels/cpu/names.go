package cpu

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/sparse"
)

// Forms returns the names of the forms that msrep.Storage.Form accepts for CPU devices.
func Forms() []kernels.Form { return forms.Forms() }

// Choices returns the names of the forms that a device chooses from when no form is named.
func Choices() []kernels.Form { return forms.Choices() }

// InstructionSet returns the instruction set of the inner loops: generic, avx2 or avx512. The environment variable
// MSREP_CPU chooses it; a name that is unknown, or that the processor lacks, is a *sparse.InputError.
func InstructionSet() (string, error) {
	level, err := simd.Chosen()
	if err != nil {
		return "", &sparse.InputError{Err: err}
	}
	return level.String(), nil
}
