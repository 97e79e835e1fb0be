package ptx

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// Module is the kernels and variables of one PTX text. It does not change and may
// be used by several goroutines.
type Module struct {
	name    string
	kernels map[string]*Kernel
	vars    map[string]*variable
	files   map[uint64]string // of .file, for .loc
}

// variable is memory of module scope.
type variable struct {
	name     string
	size     int64
	align    int64
	init     []byte // what it begins with; the rest is zero
	readOnly bool
	shared   bool // in shared memory; of size 0 where the launch says how much
}

// Parse reads PTX text. name stands for it in errors, which are
// *sparse.InputError with a line.
func Parse(name, src string) (*Module, error) {
	toks, err := tokenize(name, src)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks, mod: &Module{
		name: name, kernels: map[string]*Kernel{}, vars: map[string]*variable{}, files: map[uint64]string{},
	}}
	if err := p.module(); err != nil {
		return nil, err
	}
	return p.mod, nil
}

// Kernels is the names of the kernels, sorted.
func (m *Module) Kernels() []string {
	names := make([]string, 0, len(m.kernels))
	for n := range m.kernels {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Kernel finds a kernel by its name, as it is in the text.
func (m *Module) Kernel(name string) (*Kernel, error) {
	k, ok := m.kernels[name]
	if !ok {
		return nil, sparse.Inputf(m.name, "it has no kernel %q, but %q", name, m.Kernels())
	}
	return k, nil
}

// Kernel is one entry of a module, ready to run.
type Kernel struct {
	name   string
	mod    *Module
	params []param
	nparam int64 // bytes of all parameters
	code   []instr
	consts []uint64 // operands that are the same in all lanes
	fixups []fixup  // those that are addresses of variables
	regs   int
	preds  int
	fences bool  // it has a fence among blocks
	shared int64 // bytes of static shared memory
	local  int64 // bytes of local memory of a thread
	labels map[string]int32
	maxDim [3]int64 // of .maxntid, 0 for none
	reqDim [3]int64 // of .reqntid
}

// StaticShared is the bytes of shared memory that the kernel declares itself.
func (k *Kernel) StaticShared() int64 { return k.shared }

// param is a parameter of a kernel at its place in parameter space.
type param struct {
	name string
	off  int64
	size int64
	typ  typ
	// array says that the parameter is bytes, a struct passed by value.
	array bool
}

// fixup puts the address of a variable into a constant.
type fixup struct {
	index    int
	variable *variable
	addend   uint64
}
