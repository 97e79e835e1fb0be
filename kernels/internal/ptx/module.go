package ptx

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// Module holds the kernels and variables of one PTX text. It is immutable, so several
// goroutines may use it.
type Module struct {
	name    string
	kernels map[string]*Kernel
	vars    map[string]*variable
	files   map[uint64]string // of .file, for .loc
}

// variable is a variable of module scope.
type variable struct {
	name     string
	size     int64
	align    int64
	init     []byte // initial value; the rest is zero
	readOnly bool
	shared   bool // in shared memory; size 0 if the launch sets the size
}

// Parse parses PTX text. Errors are *sparse.InputError with name and line.
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

// Kernels returns the sorted names of the kernels.
func (m *Module) Kernels() []string {
	names := make([]string, 0, len(m.kernels))
	for n := range m.kernels {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Kernel returns the kernel with a name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	k, ok := m.kernels[name]
	if !ok {
		return nil, sparse.Inputf(m.name, "it has no kernel %q; its kernels are %q", name, m.Kernels())
	}
	return k, nil
}

// Kernel is one entry of a module.
type Kernel struct {
	name   string
	mod    *Module
	params []param
	nparam int64 // bytes of all parameters
	code   []instr
	consts []uint64 // operands that are the same in all lanes
	fixups []fixup  // constants that are addresses of variables
	regs   int
	preds  int
	fences bool  // the kernel has a fence of device scope
	shared int64 // bytes of static shared memory
	local  int64 // bytes of local memory of a thread
	labels map[string]int32
	maxDim [3]int64 // of .maxntid, 0 for none
	reqDim [3]int64 // of .reqntid
}

// StaticShared returns the bytes of shared memory that the kernel declares.
func (k *Kernel) StaticShared() int64 { return k.shared }

// param is a parameter of a kernel and its offset in the parameter space.
type param struct {
	name string
	off  int64
	size int64
	typ  typ
	// array means that the parameter is bytes: a struct passed by value.
	array bool
}

// fixup stores the address of a variable in a constant.
type fixup struct {
	index    int
	variable *variable
	addend   uint64
}
