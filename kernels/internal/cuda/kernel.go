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
	Float32             // 4 bytes, at the start of an 8-byte slot
)

// Param is one parameter of a kernel.
type Param struct {
	Name string
	Type Type
	// Elem is the type of the elements of a Pointer: "i32", "i64", "f32" or "f64".
	Elem string
	// Written means that the kernel writes to the memory.
	Written bool
}

// Kernel describes the launch of a kernel. Grids and blocks have one dimension.
type Kernel struct {
	Name   string
	Family string // its PTX module
	Value  string // the type of the values, "f64" or "f32", or "" for index arrays
	Block  int    // threads of a thread block; no other number is supported
	// Items is the number of Units that a block takes at a time. With fewer blocks than
	// Blocks returns, each block processes several groups of Items.
	Items int64
	Unit  string
	// PerCarry is the number of Units for each carry, 0 for kernels without carries.
	PerCarry int64
	Params   []Param
}

// Blocks returns the number of blocks that process n items in one pass. It is at least
// 1, because a grid cannot be empty.
func (k Kernel) Blocks(n int64) int64 { return max(ceil(n, k.Items), 1) }

// Carries returns the number of carries for n items: the length of carryRow and carryVal of
// the kernels of major products, and of outRow and outVal of msrep_add_carries.
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

// Kernels returns the table of all kernels, sorted by name.
func Kernels() []Kernel { return slices.Clone(table) }

// Lookup finds a kernel by its name.
func Lookup(name string) (Kernel, error) {
	i, ok := slices.BinarySearchFunc(table, name, func(k Kernel, name string) int { return strings.Compare(k.Name, name) })
	if !ok {
		return Kernel{}, fmt.Errorf("kernels: there is no kernel %q", name)
	}
	return table[i], nil
}

// Lanes returns the number of lanes that msrep_major_vector gives each row of a part
// with rows rows and nnz entries: 1, 2, 4, 8, 16 or 32. All variants read and multiply
// the entries in the same way; the lanes share the sum of a row.
func Lanes(rows, nnz int64) int {
	lanes := 1
	for lanes < 32 && rows > 0 && nnz/rows >= 4*int64(lanes) {
		lanes *= 2
	}
	return lanes
}
