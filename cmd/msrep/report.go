package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// report is the result that msrep spmv prints.
type report struct {
	Matrix      matrixName     `json:"matrix"`
	Op          string         `json:"op"`
	Format      sparse.Format  `json:"format"`
	Strategy    string         `json:"strategy"`
	Split       partition.Rule `json:"split"`
	Devices     []deviceReport `json:"devices"`
	NUMA        numaReport     `json:"numa"`
	Phases      phases         `json:"phases"`
	GFlops      number         `json:"gflops"`        // 2 nnz / product_s
	BytesPerNNZ number         `json:"bytes_per_nnz"` // least traffic of a product: the matrix, x once, y once or twice
	Imbalance   float64        `json:"imbalance"`     // largest nnz of a device over the mean
	Y           norms          `json:"y"`
}

type matrixName struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Cols int    `json:"cols"`
	NNZ  int64  `json:"nnz"`
}

type deviceName struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Threads int    `json:"threads,omitempty"` // CPU devices only
}

func nameOf(d kernels.Info) deviceName { return deviceName{d.ID, d.Kind, d.Name, d.Threads} }

func namesOf(devices []kernels.Info) (out []deviceName) {
	for _, d := range devices {
		out = append(out, nameOf(d))
	}
	return out
}

type deviceReport struct {
	deviceName
	NUMANode  int     `json:"numa_node"`
	NNZ       int64   `json:"nnz"`
	FirstRow  int     `json:"first_row"` // first row (column for csc) that the part covers; LastRow likewise
	LastRow   int     `json:"last_row"`
	StartIdx  int64   `json:"start_idx"`
	EndIdx    int64   `json:"end_idx"`
	StartFlag bool    `json:"start_flag"`
	KernelS   float64 `json:"kernel_s"`
	Form      string  `json:"form,omitempty"` // form in which the device keeps its part
	Why       string  `json:"why,omitempty"`
	Bytes     int64   `json:"form_bytes,omitempty"`
}

// phases are times in seconds: of the preparation once, of the products their medians. With several ranks Partition
// is the whole time of the plan.
type phases struct {
	Read       float64 `json:"read_s"`       // reading the file
	Convert    float64 `json:"convert_s"`    // conversion to the format that is split
	Pack       float64 `json:"pack_s"`       // choosing and building the forms of the parts
	Partition  float64 `json:"partition_s"`  // the split and the local pointers
	Distribute float64 `json:"distribute_s"` // copies of the matrix to the devices, and of the vectors of one product
	Kernel     float64 `json:"kernel_s"`
	Merge      float64 `json:"merge_s"`
	Product    float64 `json:"product_s"` // one product with the plan
	Total      float64 `json:"total_s"`   // reading, plan and one product
}

// shortName returns the name of a file without folder and extension; a generator spec is returned unchanged.
func shortName(path string) string {
	if strings.HasPrefix(path, "gen:") {
		return path
	}
	name := filepath.Base(path)
	for _, ext := range append([]string{".gz", ".zst", ".tar", ".tgz"}, matio.Extensions()...) {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

func newReport[V sparse.Value](s *spmv, j *job, plan *msrep.Plan[V], times []msrep.Timing) report {
	rows, cols := plan.Dims()
	r := report{
		Matrix: matrixName{shortName(j.m.Name), rows, cols, plan.NNZ()}, Op: "A", Format: plan.Format(),
		Strategy: s.strategy, Split: plan.Rule(), NUMA: newNUMAReport(j.sys, plan.Nodes()),
	}
	r.NUMA.X = string(plan.XPlacement(msrep.Transpose(s.transpose)))
	if s.format != "auto" {
		r.Format = sparse.Format(s.format)
	}
	if s.transpose {
		r.Op, rows, cols = "A'", cols, rows
	}
	of := func(f func(msrep.Timing) time.Duration) float64 { return medianOf(times, f) }
	var parts []partition.Part
	for _, sh := range plan.Shares() {
		parts = append(parts, sh.Part)
	}
	r.Devices = deviceReports(j.sys, plan, msrep.Transpose(s.transpose), times)
	pt := plan.Timing()
	r.Phases = phases{
		Read:       j.read.Seconds(),
		Convert:    pt.Convert.Seconds(),
		Pack:       pt.Pack.Seconds(),
		Partition:  pt.Partition.Seconds(),
		Distribute: pt.Distribute.Seconds() + of(func(t msrep.Timing) time.Duration { return t.Distribute }),
		Kernel:     of(func(t msrep.Timing) time.Duration { return t.Kernel }),
		Merge:      of(func(t msrep.Timing) time.Duration { return t.Merge }),
		Product:    of(func(t msrep.Timing) time.Duration { return t.Total }),
	}
	r.Phases.Total = r.Phases.Read + r.Phases.Convert + r.Phases.Partition + r.Phases.Pack + pt.Distribute.Seconds() + r.Phases.Product
	nnz := float64(plan.NNZ())
	r.GFlops = number(2 * nnz / r.Phases.Product / 1e9)
	bytes := productBytes[V](plan, rows, cols, s.beta != 0)
	if p := s.segments(); p.Count > 0 { // a product reads no other bytes of a value
		bytes -= plan.NNZ() * int64(8/p.Count*(p.Count-p.Read))
	}
	r.BytesPerNNZ = number(float64(bytes) / nnz)
	r.Imbalance = partition.Imbalance(parts)
	return r
}

// medianOf returns the median of one phase in seconds.
func medianOf(times []msrep.Timing, f func(msrep.Timing) time.Duration) float64 {
	d := make([]time.Duration, len(times))
	for i, t := range times {
		d[i] = f(t)
	}
	return median(d)
}

// deviceReports describes the part of each device and the median time of its kernels.
func deviceReports[V sparse.Value](sys *msrep.System, plan *msrep.Plan[V], op msrep.Transpose, times []msrep.Timing) (out []deviceReport) {
	infos := sys.Devices()
	packed := plan.Packed(op)
	for i, sh := range plan.Shares() {
		p, info := sh.Part, infos[sh.Device]
		out = append(out, deviceReport{
			deviceName: nameOf(info), NUMANode: info.NUMANode,
			NNZ: p.NNZ(), FirstRow: p.First(), LastRow: p.End() - 1,
			StartIdx: p.StartIdx, EndIdx: p.EndIdx, StartFlag: p.StartFlag,
			KernelS: medianOf(times, func(t msrep.Timing) time.Duration { return t.Devices[i] }),
			Form:    string(packed[i].Form), Why: packed[i].Why, Bytes: packed[i].Bytes,
		})
	}
	return out
}

// productBytes returns the least number of bytes that a product moves: the matrix once, x once, y written, and y read
// if beta is not 0.
func productBytes[V sparse.Value](plan *msrep.Plan[V], rows, cols int, readsY bool) int64 {
	var v V
	size := int64(unsafe.Sizeof(v))
	m, n := plan.Dims()
	b := plan.NNZ() * (size + 4)
	switch plan.Format() {
	case sparse.FormatCSR:
		b += 8 * (int64(m) + 1)
	case sparse.FormatCSC:
		b += 8 * (int64(n) + 1)
	default:
		b += 4 * plan.NNZ()
	}
	b += size * int64(cols+rows)
	if readsY {
		b += size * int64(rows)
	}
	return b
}

// span describes a range of rows or columns, "no rows" for an empty one.
func span(axis string, first, last int) string {
	if first > last {
		return "no " + axis
	}
	return fmt.Sprintf("%s %d to %d", axis, first, last)
}

func (r report) print(w io.Writer) error {
	p := r.Phases
	fmt.Fprintf(w, `%s  %d x %d, %d nonzeros
y = alpha*%s*x + beta*y  %s, strategy %s, split by %s, imbalance %.4f
`, r.Matrix.Name, r.Matrix.Rows, r.Matrix.Cols, r.Matrix.NNZ, r.Op, r.Format, r.Strategy, r.Split, r.Imbalance)
	axis := "rows"
	if r.Format == sparse.FormatCSC {
		axis = "columns"
	}
	for _, d := range r.Devices {
		entries, flag := "", ""
		if d.NNZ > 0 {
			entries = fmt.Sprintf(" [%d, %d]", d.StartIdx, d.EndIdx)
		}
		if d.StartFlag {
			flag = ", first one shared"
		}
		fmt.Fprintf(w, "  %-6s %12d nonzeros%s, %s%s, kernel %s\n", d.ID, d.NNZ, entries, span(axis, d.FirstRow, d.LastRow), flag, seconds(d.KernelS))
		if d.Form != "" {
			fmt.Fprintf(w, "         form %s: %s\n", d.Form, d.Why)
		}
	}
	if len(r.Devices) > 0 && r.Devices[0].Kind == "sim" {
		fmt.Fprintln(w, "  times of the interpreter, not of a GPU")
	}
	if r.NUMA.On {
		r.NUMA.print(w)
	}
	fmt.Fprintf(w, "phases  read %s  convert %s  partition %s  pack %s  distribute %s  kernel %s  merge %s  total %s\n",
		seconds(p.Read), seconds(p.Convert), seconds(p.Partition), seconds(p.Pack), seconds(p.Distribute), seconds(p.Kernel), seconds(p.Merge), seconds(p.Total))
	return printProduct(w, r.Matrix.NNZ, p.Product, r.BytesPerNNZ, slices.ContainsFunc(r.Devices, deviceReport.packed), r.Y)
}

// printProduct prints the speed of a product with nnz entries that moves perNNZ bytes for each, and the norms of y.
// packed says that a device uses another form than the format of the split.
func printProduct(w io.Writer, nnz int64, took float64, perNNZ number, packed bool, y norms) error {
	if nnz > 0 {
		rate := float64(nnz) / took / 1e9
		fmt.Fprintf(w, "product %s  %.3f GFLOP/s  %s\n", seconds(took), 2*rate, traffic(packed, float64(perNNZ)*rate, float64(perNNZ)))
	}
	_, err := fmt.Fprintf(w, "y  norm1 %.17g  norm2 %.17g  sum %.17g\n", y.Norm1, y.Norm2, y.Sum)
	return err
}

// packed reports whether the device keeps its part in another form than CSR.
func (d deviceReport) packed() bool { return d.Form != "" && d.Form != string(kernels.FormCSR) }

// traffic describes the bandwidth of a product in the format of the split. A form that stores fewer bytes can exceed
// the bandwidth of the memory by this figure.
func traffic(packed bool, gbs, perNNZ float64) string {
	if packed {
		return fmt.Sprintf("%.2f GB/s if it were in CSR (%.1f bytes per nonzero)", gbs, perNNZ)
	}
	return fmt.Sprintf("%.2f GB/s of %.1f bytes per nonzero", gbs, perNNZ)
}

// seconds formats a time with a suitable unit.
func seconds(s float64) string {
	return time.Duration(s * 1e9).Round(100 * time.Nanosecond).String()
}
