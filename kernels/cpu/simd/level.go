// Package simd has the inner loops of the CPU kernels in assembly, with the same
// loops in plain Go: the reference, and what runs where there is no such assembly.
//
// The assembly is generated: each folder of gen makes one file here. gen is a Go
// module of its own, so that its tools are nobody else's dependency.
package simd

import (
	"fmt"
	"os"
	"sync"

	"github.com/klauspost/cpuid/v2"
)

// Level is an instruction set that the kernels are written for.
type Level int

// The instruction sets, each with all before it.
const (
	Generic Level = iota // plain Go
	AVX2                 // AVX2 and FMA, 256 bits
	AVX512               // AVX-512 F, VL, BW and DQ, 512 bits
)

func (l Level) String() string { return [...]string{"generic", "avx2", "avx512"}[l] }

// Best is the best that this processor has.
func Best() Level {
	c := cpuid.CPU
	switch {
	case !hasAssembly || !c.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2):
		return Generic
	case c.Supports(cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512BW, cpuid.AVX512DQ):
		return AVX512
	}
	return AVX2
}

// Chosen is the level that the environment asks for by MSREP_CPU=generic, avx2 or
// avx512, or the best one. It is an error to ask for more than there is.
func Chosen() (Level, error) { return choose(os.Getenv("MSREP_CPU"), Best()) }

// Default is the level of Chosen, looked up once; Best where that is an error.
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
