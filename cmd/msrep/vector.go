package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/mem"
	decimal "github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// readVector returns the n elements of a vector flag: the contents of a file (matio.ReadVector), ones, zeros, sin (x[j] = sin(j+1),
// 0-based j), or random:SEED (uniform in [-1, 1)).
func (c *call) readVector(ctx context.Context, flag, spec string, n int) ([]float64, error) {
	return c.readPiece(ctx, flag, spec, n, 0, n)
}

// readPiece returns elements [first, end) of the vector that readVector returns.
func (c *call) readPiece(ctx context.Context, flag, spec string, n, first, end int) ([]float64, error) {
	if err := checkVectorSpec(flag, spec); err != nil {
		return nil, err
	}
	word, arg, _ := strings.Cut(spec, ":")
	switch {
	case spec == "ones" || spec == "zeros" || spec == "sin" || word == "random":
		v, err := newVector[float64](flag, end-first)
		if err != nil {
			return nil, err
		}
		seed, _ := strconv.ParseUint(arg, 10, 64)
		r := rand.New(rand.NewPCG(seed, 0x6d73726570))
		if word == "random" {
			for range first {
				r.Float64()
			}
		}
		for i := range v {
			switch word {
			case "ones":
				v[i] = 1
			case "sin":
				v[i] = math.Sin(float64(first + i + 1))
			case "random":
				v[i] = 2*r.Float64() - 1
			}
		}
		return v, nil
	}
	v, src, err := matio.ReadVector(ctx, spec)
	if err != nil {
		return nil, err
	}
	c.note(spec, src)
	if len(v) != n {
		return nil, sparse.Inputf(spec, "a vector of %d elements; %s needs %d", len(v), flag, n)
	}
	return v[first:end], nil
}

// newVector returns n zeros, or an error that names flag if the memory does not suffice.
func newVector[V sparse.Value](flag string, n int) ([]V, error) {
	if err := checkMemory(flag, fmt.Sprintf("a vector of %d elements", n), mem.Size[V]()*int64(n)); err != nil {
		return nil, err
	}
	return make([]V, n), nil
}

// convert returns v with elements of type W; v itself if W is V. It refuses elements beyond the range of W.
func convert[W, V sparse.Value](flag string, v []V) ([]W, error) {
	if same, ok := any(v).([]W); ok {
		return same, nil
	}
	out, err := newVector[W](flag, len(v))
	for i := range out {
		out[i] = W(v[i])
		if beyond(v[i], out[i]) {
			return nil, sparse.Inputf(flag, "element %d, %g, is beyond the range of fp32", i+1, v[i])
		}
	}
	return out, err
}

// checkVectorSpec finds mistakes that show before the matrix is read.
func checkVectorSpec(flag, spec string) error {
	word, arg, hasArg := strings.Cut(spec, ":")
	switch {
	case spec == "random":
		return sparse.Inputf(flag, "random needs a seed: random:1")
	case word == "random" && hasArg:
		if _, err := strconv.ParseUint(arg, 10, 64); err != nil {
			return sparse.Inputf(flag, "%q: the seed must be a whole number from 0 to 2^64-1", spec)
		}
	case spec == "ones" || spec == "zeros" || spec == "sin":
	default:
		st, err := os.Stat(spec)
		if errors.Is(err, fs.ErrNotExist) {
			return sparse.Inputf(flag, "%s: no such file; ones, zeros, sin and random:SEED need none", spec)
		}
		if err != nil || st.IsDir() {
			f, err := fileio.Open(spec) // for its error message
			if err == nil {
				err = f.Close()
			}
			return err
		}
	}
	return nil
}

// checkOut refuses an output path that is the matrix, that is the file into which the result is printed, or whose
// extension is not in known.
func (c *call) checkOut(path string, known []string) error {
	if path == "" {
		return nil
	}
	if path == "-" {
		return sparse.Inputf("--out", "-: the result is printed on standard output: name a file for the vector")
	}
	if out, err := os.Stat(path); err == nil && out.Mode()&(fs.ModeType&^fs.ModeNamedPipe) == 0 {
		if in, err := os.Stat(c.args[0]); err == nil && os.SameFile(in, out) {
			return sparse.Inputf("--out", "%s: is the matrix, which the vector would replace: name another file", path)
		}
		if printed, err := os.Stdout.Stat(); err == nil && os.SameFile(printed, out) {
			return sparse.Inputf("--out", "%s: is where the result is printed: name another file for the vector", path)
		}
	}
	return checkVectorName(path, known)
}

// Extensions of files of one vector and of several. A name without an extension stands for a Matrix Market array.
var (
	oneVector      = []string{".mtx", ".txt", ".npy"}
	severalVectors = []string{".mtx", ".txt"}
)

// checkVectorName refuses a name with an extension that is not in known, unless it is the name of a pipe or a device.
func checkVectorName(path string, known []string) error {
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	ext := filepath.Ext(name)
	if ext == "" || slices.Contains(known, ext) {
		return nil
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return nil
	}
	return sparse.Inputf("--out", "%s: %s is no format of this result: the name must end in one of %s, with or without .gz or .zst, or have no extension (Matrix Market)",
		path, ext, strings.Join(known, " "))
}

// writeVector writes v to out, which was created with the name path, in the format of the name (matio.WriteVector), and
// completes the file; a nil out writes nothing. With ids it writes lines "id value", and v[k] belongs to node ids[k].
func writeVector[V sparse.Value](path string, out *fileio.Out, v []V, ids []int64) error {
	if out == nil {
		return nil
	}
	wide, err := convert[float64]("--out", v)
	if err != nil {
		return err
	}
	switch {
	case ids == nil:
		err = matio.WriteVector(out, path, wide)
	case matio.IsNPY(path):
		err = sparse.Inputf("--out", "%s: has no place for node ids: lines of id and value need another name, such as %s.txt", path, path)
	default:
		err = writeByID(out, wide, ids)
	}
	if err != nil {
		return err
	}
	return out.Commit()
}

// writeByID writes a comment and then one line "id value" for each element, with 17 significant digits.
func writeByID(w io.Writer, v []float64, ids []int64) error {
	if _, err := fmt.Fprintf(w, "# id value, %d nodes\n", len(v)); err != nil {
		return err
	}
	return lines.Write(w, int64(len(v)), func(buf []byte, lo, hi int64) []byte {
		for k := lo; k < hi; k++ {
			buf = append(strconv.AppendInt(buf, ids[k], 10), '\t')
			buf = append(decimal.Append(buf, v[k], 'g', 17), '\n')
		}
		return buf
	})
}

// checkMemory returns an error if need bytes are not available.
func checkMemory(file, what string, need int64) error {
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf(file, "%s takes %d bytes, %d are available", what, need, have)
	}
	return nil
}

// beyond reports whether a finite number became infinite in the conversion to another type.
func beyond[W, V sparse.Value](from V, to W) bool {
	return math.IsInf(float64(to), 0) && !math.IsInf(float64(from), 0)
}

// checkSingle returns an error if a value of a exceeds the range of fp32 or if the memory for a copy in fp32 is
// missing. file is the name in the errors. Row 0 of a is row first of the matrix.
func checkSingle(file string, a *sparse.CSR[float64], first int) error {
	for k, v := range a.Val {
		if beyond(v, float32(v)) {
			row := sort.Search(a.Rows, func(r int) bool { return a.RowPtr[r+1] > int64(k) })
			return sparse.Inputf(file, "%g in row %d, column %d is beyond the range of fp32, which --value asks for", v, first+row+1, a.ColIdx[k]+1)
		}
	}
	return checkMemory("--value", "a copy of the values in fp32", 4*a.NNZ())
}
