// Package simd names the instruction sets for which there are loops in assembly, and chooses one.
// The loops are in package vec and in the forms of package cpu. The same loops in plain Go are the
// reference, and run on processors without the assembly.
package simd

import (
	"fmt"
	"os"
	"sync"

	"github.com/klauspost/cpuid/v2"
)

// Level is an instruction set for which there are kernels.
type Level int

// The instruction sets. Each includes those before it.
const (
	Generic Level = iota // plain Go
	AVX2                 // AVX2 and FMA, 256 bits
	AVX512               // AVX-512 F, VL, BW and DQ, 512 bits
)

func (l Level) String() string { return [...]string{"generic", "avx2", "avx512"}[l] }

// Best returns the best level of this processor.
func Best() Level {
	c := cpuid.CPU
	switch {
	case !hasAssembly || !c.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2, cpuid.LZCNT):
		return Generic
	case c.Supports(cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512BW, cpuid.AVX512DQ):
		return AVX512
	}
	return AVX2
}

// Chosen returns the level that the environment variable MSREP_CPU requests (generic, avx2 or
// avx512), or Best if it is empty. It fails if the processor does not have that level.
func Chosen() (Level, error) { return choose(os.Getenv("MSREP_CPU"), Best()) }

// Default returns the level of Chosen, computed once, or Best if Chosen fails.
var Default = sync.OnceValue(func() Level {
	l, _ := Chosen()
	return l
})

func choose(name string, best Level) (Level, error) {
	if name == "" {
		return best, nil
	}
	for l := Generic; l <= AVX512; l++ {
		if l.String() != name {
			continue
		}
		if l > best {
			return best, fmt.Errorf("MSREP_CPU=%s: this processor has at most %s", name, best)
		}
		return l, nil
	}
	return best, fmt.Errorf("MSREP_CPU=%s: use generic, avx2 or avx512", name)
}
