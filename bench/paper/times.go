package paper

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Matrix is one of Table 2.
type Matrix struct {
	Name       string
	Rows, Cols int
	NNZ        int64   // of the whole matrix, as Table 2 counts
	Stored     int64   // entries that the authors' program multiplied
	R          float64 // exponent of the power law of its columns, Table 2
}

// Matrices lists Table 2 in its order, with the exact sizes of the collection.
var Matrices = []Matrix{
	{"mouse_gene", 45_101, 45_101, 28_967_291, 14_506_196, 1.03},
	{"wb-edu", 9_845_725, 9_845_725, 57_156_537, 57_156_537, 2.13},
	{"com-LiveJournal", 3_997_962, 3_997_962, 69_362_378, 34_681_189, 2.40},
	{"hollywood-2009", 1_139_905, 1_139_905, 113_891_327, 57_515_616, 1.92},
	{"com-Orkut", 3_072_441, 3_072_441, 234_370_166, 117_185_083, 2.13},
	{"HV15R", 2_017_169, 2_017_169, 283_073_458, 283_073_458, 3.09},
}

// Find gives the matrix of Table 2 with this name.
func Find(name string) (Matrix, bool) {
	for _, m := range Matrices {
		if m.Name == name {
			return m, true
		}
	}
	return Matrix{}, false
}

// Phases are the times of one product, in seconds.
type Phases struct {
	NUMACopy, Partition, H2D, Compute, Merge float64
}

// Time is one run of the authors' program.
type Time struct {
	Platform string // dgx1 or summit
	Matrix   string
	Format   string // csr, csc or coo
	Version  string // baseline or p
	GPUs     int
	// Optimised says that partition and merge were optimised (p*-opt), NUMA that
	// parts lay on the nodes of their GPUs.
	Optimised, NUMA bool
	Phases
}

// Correction is the factor by which the times of a run are too short for the
// machine that they are said to be from: 4 on Summit, but for wb-edu, whose copies
// run at the speed of NVLink. It is derived from the speed of the copies, and
// holds for the kernels of CSR too.
func (t Time) Correction() float64 {
	if t.Platform == "summit" && t.Matrix != "wb-edu" {
		return 4
	}
	return 1
}

//go:embed phase-times.csv
var phaseTimes string

// Times gives all runs.
var Times = sync.OnceValue(func() []Time {
	rows, err := csv.NewReader(strings.NewReader(phaseTimes)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("phase-times.csv: %v", err)) // part of the program
	}
	var out []Time
	for _, r := range rows[1:] {
		num := func(i int) float64 {
			v, err := strconv.ParseFloat(r[i], 64)
			if err != nil {
				panic(fmt.Sprintf("phase-times.csv: %v", err))
			}
			return v
		}
		out = append(out, Time{
			Platform: r[0], Matrix: r[1], Format: r[2], Version: r[3], GPUs: int(num(4)),
			Optimised: num(5) == 1 && num(6) == 1, NUMA: num(7) == 1,
			Phases: Phases{NUMACopy: num(8), Partition: num(9), H2D: num(10), Compute: num(11), Merge: num(12)},
		})
	}
	return out
})

// Run finds one run: version is baseline, p (plain) or p-opt (optimised, NUMA
// aware).
func Run(platform, matrix, format, version string, gpus int) (Time, bool) {
	want := Time{Platform: platform, Matrix: matrix, Format: format, Version: version, GPUs: gpus}
	if version == "p-opt" {
		want.Version, want.Optimised, want.NUMA = "p", true, true
	}
	for _, t := range Times() {
		p := t.Phases
		if t.Phases = (Phases{}); t == want {
			t.Phases = p
			return t, true
		}
	}
	return Time{}, false
}

// Speedup is what Figures 21 to 23 plot: the time of the baseline on one GPU
// without its partition, over partition and merge of the run and, for p-opt, the
// copy of the optimised run but the kernel of the plain one. The matrix is copied
// for each product. 0 where a run is missing.
func Speedup(platform, matrix, format, version string, gpus int) float64 {
	one, ok1 := Run(platform, matrix, format, "baseline", 1)
	run, ok2 := Run(platform, matrix, format, version, gpus)
	if !ok1 || !ok2 {
		return 0
	}
	compute := run.Compute
	if version == "p-opt" {
		plain, ok := Run(platform, matrix, format, "p", gpus)
		if !ok {
			return 0
		}
		compute = plain.Compute
	}
	return (one.H2D + one.Compute + one.Merge) / (run.Partition + run.H2D + compute + run.Merge)
}
