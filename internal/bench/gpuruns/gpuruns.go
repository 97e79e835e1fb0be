// Package gpuruns reads the results of scripts/gpu-run from a machine with a GPU: times of products with our kernels,
// cuSPARSE, CuPy and torch.
package gpuruns

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
)

// The keys of Product.Seconds. Vector, Merge and Slices are our kernels; Auto is the form that a plan chooses after
// measuring.
const (
	Vector   = "csr"
	Merge    = "csr-merge"
	Slices   = "slices"
	Auto     = "auto"
	CuSPARSE = "cusparse"
	CuPy     = "cupy"
	Torch    = "torch"
)

// Run is one folder of results.
type Run struct {
	Folder   string
	GPU      string  // name from the driver
	Copy     float64 // bandwidth of copies within the GPU in bytes per second; 0 if not measured
	Products []Product
}

// Product is one matrix with one type of values.
type Product struct {
	Matrix  string
	Value   string // fp64 or fp32
	NNZ     int64
	Least   int64              // least bytes that a product in CSR moves
	Seconds map[string]float64 // by key; a failed product is missing
}

// StandIn reports whether the run used the stand-in for the driver, whose times mean nothing.
func (r *Run) StandIn() bool { return r.GPU == standIn }

// standIn is the name of the GPUs of internal/nvidiatest.
const standIn = "no GPU, interpreted"

// Own returns the time of the fastest of our kernels; NaN if all failed.
func (p *Product) Own() float64 {
	own := math.NaN()
	for _, way := range []string{Vector, Merge, Slices} {
		if s, ok := p.Seconds[way]; ok && !(s >= own) {
			own = s
		}
	}
	return own
}

// resultsFile is the name of the file that Read reads.
const resultsFile = "results.jsonl"

// Find returns the folders with results: dir itself, or its subfolders sorted by name. A missing folder is a
// *sparse.InputError.
func Find(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, resultsFile)); err == nil {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &sparse.InputError{Subject: dir, Err: err}
	}
	var out []string
	for _, e := range entries {
		sub := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(sub, resultsFile)); err == nil {
			out = append(out, sub)
		} else if !errors.Is(err, fs.ErrNotExist) && e.IsDir() {
			return nil, &sparse.InputError{Subject: sub, Err: err}
		}
	}
	return out, nil
}

// line is one line of results.jsonl; see bench/results/README.md.
type line struct {
	What    string  `json:"what"`
	Matrix  string  `json:"matrix"`
	Value   string  `json:"value"`
	Name    string  `json:"name"`
	NNZ     int64   `json:"nnz"`
	Least   int64   `json:"least_bytes"`
	Speed   float64 `json:"gb_per_s"`
	Library string  `json:"library"`
	Seconds float64 `json:"seconds"`
	Forms   []struct {
		Form    string  `json:"form"`
		Seconds float64 `json:"seconds"`
		Error   string  `json:"error"`
	} `json:"forms"`
}

// maxLine is the limit of the length of a line of results.jsonl.
const maxLine = 1 << 20

// Read reads the results in a folder. An unreadable result is a *sparse.InputError with file and line.
func Read(dir string) (*Run, error) {
	name := filepath.Join(dir, resultsFile)
	f, err := fileio.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &Run{Folder: filepath.Base(dir)}
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxLine)
	n := 0
	for in.Scan() {
		n++
		if strings.TrimSpace(in.Text()) == "" {
			continue
		}
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, &sparse.InputError{Subject: fmt.Sprintf("%s:%d", name, n), Err: fmt.Errorf("it must be a line of scripts/gpu-run: %w", err)}
		}
		r.add(l)
	}
	if err := in.Err(); err != nil {
		return nil, &sparse.InputError{Subject: fmt.Sprintf("%s:%d", name, n+1), Err: err}
	}
	return r, nil
}

func (r *Run) add(l line) {
	switch l.What {
	case "copy":
		r.Copy = 1e9 * l.Speed
		r.GPU = l.Name
	case "product":
		r.GPU = l.Name
		p := r.product(l)
		p.Least = l.Least
		for _, f := range l.Forms {
			if f.Error == "" && f.Seconds > 0 {
				p.Seconds[f.Form] = f.Seconds
			}
		}
	case "peer":
		if l.Seconds > 0 {
			r.product(l).Seconds[l.Library] = l.Seconds
		}
	}
}

// product returns the product of a line; it makes a new one if there is none.
func (r *Run) product(l line) *Product {
	matrix := strings.TrimPrefix(strings.TrimSuffix(path.Base(l.Matrix), ".msr"), "gen-")
	i := slices.IndexFunc(r.Products, func(p Product) bool { return p.Matrix == matrix && p.Value == l.Value })
	if i < 0 {
		i = len(r.Products)
		r.Products = append(r.Products, Product{Matrix: matrix, Value: l.Value, NNZ: l.NNZ, Seconds: map[string]float64{}})
	}
	return &r.Products[i]
}
