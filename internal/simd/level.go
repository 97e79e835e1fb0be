// Package simd names the instruction sets for which there are loops in assembly, and chooses one.
// The loops are in package vec and in the forms of package cpu. The same loops in plain Go are the
// reference, and run on processors without the assembly.
package simd

import (
	"fmt"
	"os"
	"slices"
	"sync"
)

// Level is an instruction set for which there are kernels.
type Level int

// The instruction sets. AVX512 includes AVX2. A processor has NEON or the others: l >= AVX2 holds
// for the instruction sets of amd64 only.
const (
	Generic Level = iota // plain Go
	NEON                 // arm64, 128 bits
	AVX2                 // AVX2 and FMA, 256 bits
	AVX512               // AVX-512 F, VL, BW and DQ, 512 bits
)

// All is all levels, in their order.
var All = []Level{Generic, NEON, AVX2, AVX512}

func (l Level) String() string { return [...]string{"generic", "neon", "avx2", "avx512"}[l] }

// Index returns the index of the level in tables of kernels, which have those of one architecture.
func (l Level) Index() int { return int(max(l-AVX2, 0)) }

// Names returns the names of the levels of this processor, for help.
func Names() string { return list(Levels(), "or") }

// list returns the names of levels as a list in a sentence.
func list(levels []Level, conjunction string) string {
	text := ""
	for i, l := range levels {
		switch {
		case i > 0 && i == len(levels)-1:
			text += " " + conjunction + " "
		case i > 0:
			text += ", "
		}
		text += l.String()
	}
	return text
}

// Best returns the best level of this processor.
func Best() Level {
	levels := Levels()
	return levels[len(levels)-1]
}

// Chosen returns the level whose name the environment variable MSREP_CPU has, or Best if
// it is empty. It fails if the processor does not have that level.
func Chosen() (Level, error) { return choose(os.Getenv("MSREP_CPU"), Levels()) }

// Default returns the level of Chosen, computed once, or Best if Chosen fails.
var Default = sync.OnceValue(func() Level {
	l, _ := Chosen()
	return l
})

// choose returns the level with the name, or the last one if the name is empty.
func choose(name string, levels []Level) (Level, error) {
	best := levels[len(levels)-1]
	if name == "" {
		return best, nil
	}
	for _, l := range All {
		if l.String() != name {
			continue
		}
		if !slices.Contains(levels, l) {
			return best, fmt.Errorf("MSREP_CPU=%s: this processor has %s", name, list(levels, "and"))
		}
		return l, nil
	}
	return best, fmt.Errorf("MSREP_CPU=%s: use %s", name, list(All, "or"))
}
