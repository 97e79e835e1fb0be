package paper

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Matrix is a matrix of Table 2.
type Matrix struct {
	Name       string
	Rows, Cols int
	NNZ        int64   // entries of the whole matrix, as Table 2 counts
	Stored     int64   // entries that the authors' program multiplied
	R          float64 // exponent of the power law of its columns, Table 2
}

// Matrices is Table 2 in its order, with the exact sizes from the collection.
var Matrices = []Matrix{
	{"mouse_gene", 45_101, 45_101, 28_967_291, 14_506_196, 1.03},
	{"wb-edu", 9_845_725, 9_845_725, 57_156_537, 57_156_537, 2.13},
	{"com-LiveJournal", 3_997_962, 3_997_962, 69_362_378, 34_681_189, 2.40},
	{"hollywood-2009", 1_139_905, 1_139_905, 113_891_327, 57_515_616, 1.92},
	{"com-Orkut", 3_072_441, 3_072_441, 234_370_166, 117_185_083, 2.13},
	{"HV15R", 2_017_169, 2_017_169, 283_073_458, 283_073_458, 3.09},
}

// Others are the matrices that the authors measured on one platform each and that Table 2 does not name, with the
// sizes from the collection. The paper gives no R.
var Others = []Matrix{
	{Name: "cit-Patents", Rows: 3_774_768, Cols: 3_774_768, NNZ: 16_518_948, Stored: 16_518_948},
	{Name: "europe_osm", Rows: 50_912_018, Cols: 50_912_018, NNZ: 108_109_320, Stored: 54_054_660},
}

// Find returns the matrix of Table 2 with a name.
func Find(name string) (Matrix, bool) { return find(Matrices, name) }

// FindOther returns the matrix of Others with a name.
func FindOther(name string) (Matrix, bool) { return find(Others, name) }

func find(list []Matrix, name string) (Matrix, bool) {
	for _, m := range list {
		if m.Name == name {
			return m, true
		}
	}
	return Matrix{}, false
}

// GPUs is the number of GPUs of each of the paper's platforms.
var GPUs = map[string]int{"dgx1": 8, "summit": 6}

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
	// Optimised means that partition and merge were optimised (p*-opt). NUMA means that parts lay on the nodes of
	// their GPUs.
	Optimised, NUMA bool
	Phases
}

// Correction returns the factor by which the times of a run are too short for the stated machine: 4 on Summit, except
// for wb-edu, whose copies run at the speed of NVLink. It is derived from the speed of the copies, and fits the CSR
// kernels too.
func (t Time) Correction() float64 {
	if t.Platform == "summit" && t.Matrix != "wb-edu" {
		return 4
	}
	return 1
}

//go:embed phase-times.csv
var phaseTimes string

// Times returns all runs.
var Times = sync.OnceValue(func() []Time {
	rows, err := csv.NewReader(strings.NewReader(phaseTimes)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("phase-times.csv: %v", err)) // the file is part of the program
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

// Unplaced is the optimised version with all parts on the first NUMA node.
const Unplaced = "p-opt, no NUMA"

// Versions lists the versions of the authors' program that the model knows. The paper has no runs of the baseline
// with optimisations.
var Versions = []string{"baseline", "p", "p-opt", Unplaced}

// Kind returns the version of the run, as in Versions, or "" for one that the paper lacks.
func (t Time) Kind() string {
	switch {
	case t.Version == "p" && t.Optimised && t.NUMA:
		return "p-opt"
	case t.Version == "p" && t.Optimised:
		return Unplaced
	case !t.Optimised && !t.NUMA:
		return t.Version
	}
	return ""
}

type runKey struct {
	platform, matrix, format, kind string
	gpus                           int
}

var byKey = sync.OnceValue(func() map[runKey]Time {
	m := map[runKey]Time{}
	for _, t := range Times() {
		m[runKey{t.Platform, t.Matrix, t.Format, t.Kind(), t.GPUs}] = t
	}
	return m
})

// Run returns the run of one of Versions.
func Run(platform, matrix, format, version string, gpus int) (Time, bool) {
	if version == "" {
		return Time{}, false
	}
	t, ok := byKey()[runKey{platform, matrix, format, version, gpus}]
	return t, ok
}

// total returns the sum of all phases, with the copy of the matrix.
func (p Phases) total() float64 { return p.Partition + p.H2D + p.Compute + p.Merge }

// Speedup returns the speed-up of a run over the baseline on one GPU, or 0 if one of the runs is missing:
//
//	(h2d + compute + merge of the baseline on one GPU) / (partition + h2d + compute + merge of the run)
//
// All phases of the denominator are those of the run itself, so a run has one speed-up in all figures.
func Speedup(platform, matrix, format, version string, gpus int) float64 {
	one, ok1 := Run(platform, matrix, format, "baseline", 1)
	run, ok2 := Run(platform, matrix, format, version, gpus)
	if !ok1 || !ok2 {
		return 0
	}
	return (one.total() - one.Partition) / run.total()
}

// Plotted returns the speed-up of p-opt as the authors plot it: Speedup with the kernel time of the plain run of p.
// The two differ in CSC, whose plain kernels on the DGX-1 take up to 34 times as long.
func Plotted(platform, matrix, format string, gpus int) float64 {
	one, ok1 := Run(platform, matrix, format, "baseline", 1)
	run, ok2 := Run(platform, matrix, format, "p-opt", gpus)
	plain, ok3 := Run(platform, matrix, format, "p", gpus)
	if !ok1 || !ok2 || !ok3 {
		return 0
	}
	return (one.total() - one.Partition) / (run.total() - run.Compute + plain.Compute)
}

// Resident returns the speed-up of compute and merge alone.
func Resident(platform, matrix, format, version string, gpus int) float64 {
	one, ok1 := Run(platform, matrix, format, "baseline", 1)
	run, ok2 := Run(platform, matrix, format, version, gpus)
	if !ok1 || !ok2 {
		return 0
	}
	return (one.Compute + one.Merge) / (run.Compute + run.Merge)
}
