package cuda

import (
	"fmt"
	"slices"
	"strings"
)

// Type is the type of a parameter.
type Type int

// The types of parameters.
const (
	Pointer Type = iota // to device memory, 8 bytes
	Int64               // 8 bytes
	Float64             // 8 bytes
	Float32             // 4 bytes, at the start of the slot where slots are 8 bytes
)

// Param is one parameter of a kernel.
type Param struct {
	Name string
	Type Type
	// Elem is what a Pointer points at: "i32", "i64", "f32" or "f64".
	Elem string
	// Written says that the kernel writes there.
	Written bool
}

// Kernel says how a kernel is launched. Grids and blocks have one dimension.
type Kernel struct {
	Name   string
	Family string // its PTX module
	Value  string // the type of the values, "f64" or "f32", or "" for index arrays
	Block  int    // threads in a block: no other number will do
	// Items is how many of Unit a block takes at a time. With fewer blocks than
	// Blocks gives, every one of them takes several turns.
	Items int64
	Unit  string
	// PerCarry is how many of Unit share one carry, 0 for kernels without carries.
	PerCarry int64
	Params   []Param
}

// Blocks is the number of blocks that take n items in one turn, at least 1: a
// grid has no room for none.
func (k Kernel) Blocks(n int64) int64 { return max(ceil(n, k.Items), 1) }

// Carries is the number of carries that n items leave: the length of carryRow and
// carryVal of the gather kernels, of outRow and outVal of msrep_add_carries.
func (k Kernel) Carries(n int64) int64 {
	if k.PerCarry == 0 {
		return 0
	}
	return ceil(n, k.PerCarry)
}

func ceil(n, d int64) int64 {
	if n <= 0 {
		return 0
	}
	return (n-1)/d + 1
}

// Kernels is the table of all kernels, sorted by name.
func Kernels() []Kernel { return slices.Clone(table) }

// Lookup finds a kernel by its name.
func Lookup(name string) (Kernel, error) {
	i, ok := slices.BinarySearchFunc(table, name, func(k Kernel, name string) int { return strings.Compare(k.Name, name) })
	if !ok {
		return Kernel{}, fmt.Errorf("kernels: there is no kernel %q", name)
	}
	return table[i], nil
}

// Lanes is how many lanes of a warp msrep_major_vector should give each row of a
// part with that many rows and entries: 1, 2, 4, 8, 16 or 32. The products are
// read and formed in the same way for all; the lanes share the sum of a row.
func Lanes(rows, nnz int64) int {
	lanes := 1
	for lanes < 32 && rows > 0 && nnz/rows >= 4*int64(lanes) {
		lanes *= 2
	}
	return lanes
}
