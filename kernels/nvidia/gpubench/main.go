// Command gpubench measures products, triangular solves and products of sparse matrices on
// one device with all operands in its memory. The device's events measure the times. scripts/gpu-run calls it.
//
//	gpubench [--device cuda|sim] copy            the device's copy bandwidth
//	gpubench [--device cuda|sim] MATRIX...       each form of each matrix
//	gpubench --triangular MATRIX...              solves with the triangles of each matrix
//	gpubench --spgemm MATRIX...                  each matrix times itself
//
// It prints one line of JSON after each measurement, so that a program that is ended or
// loses the device has printed all earlier ones. After a matrix that it cannot read or measure it
// continues with the next one, unless the device is lost.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/msrep-go/msrep/internal/ended"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/kernels/sim"
)

var (
	kind      = flag.String("device", "cuda", "`KIND` of device: cuda, or sim, whose times mean nothing")
	gpu       = flag.Int("gpu", 0, "number of the GPU")
	values    = flag.String("value", "fp64", "`TYPES` of values: fp64, fp32, or fp64,fp32")
	runs      = flag.Int("runs", 30, "timed series of products of each form; the median is reported")
	bytes     = flag.Int64("bytes", 1<<30, "`SIZE` of the buffer that copy copies")
	fetch     = flag.Int("fetch", 0, "`BYTES` that the L2 cache reads at a time: 32, 64 or 128; 0 is the driver's choice")
	turns     = flag.Int("turns", 0, "`TURNS`: most consecutive groups of items that a block processes; 0 is the default")
	only      = flag.String("forms", "", "`FORMS` to measure, for example csr,slices or streamed; by default those that reside on the device")
	heap      = flag.Bool("heap", false, "copy matrices from their files to memory of the program")
	pin       = flag.Bool("pin", false, "pin matrices in host memory, which matters only for the form streamed")
	watch     = flag.Bool("profile", false, "multiply once in each form for a profiler (ncu --profile-from-start off) instead of measuring")
	triangles = flag.Bool("triangular", false, "solve with the triangles of each matrix instead of multiplying; the diagonals are replaced")
	squares   = flag.Bool("spgemm", false, "multiply each matrix by itself instead of by a vector")
	set       = flag.String("set", "", "`NAME` of the set of matrices, which each line of a product then has")
	ptx       = flag.String("ptx", "", "`DIR` with kernels that replace the built-in ones: files such as slices.ptx")
)

func main() {
	flag.Parse()
	ctx, stop := ended.BySignals(context.Background())
	defer stop()
	if err := run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gpubench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) == 0 {
		return errors.New(`say "copy", or name matrices`)
	}
	d, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	b, err := newBench(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	for _, a := range args {
		var failed error
		if a == "copy" {
			failed = b.copy()
		} else {
			failed = measureFile(ctx, b, a, strings.Split(*values, ","))
		}
		err = errors.Join(err, failed)
		if failed != nil && (ctx.Err() != nil || b.lost()) {
			return err
		}
	}
	return err
}

func open() (kernels.Device, error) {
	if *kind == "sim" {
		return sim.Open(sim.Config{Unchecked: true})
	}
	c := nvidia.Config{GPU: *gpu, Node: -1, L2Fetch: *fetch, GroupsPerBlock: *turns}
	if *ptx != "" {
		c.PTX = func(family string) string {
			text, err := os.ReadFile(filepath.Join(*ptx, family+".ptx"))
			if err != nil {
				return "" // the built-in kernels
			}
			return string(text)
		}
	}
	return nvidia.Open(c)
}

// bench is a device with the objects for measuring.
type bench struct {
	dev         kernels.Device
	stream      kernels.Stream
	start, stop kernels.Event
}

func newBench(d kernels.Device) (*bench, error) {
	b := &bench{dev: d}
	var err1, err2, err3 error
	b.stream, err1 = d.NewStream()
	b.start, err2 = d.NewEvent()
	b.stop, err3 = d.NewEvent()
	return b, errors.Join(err1, err2, err3)
}

func (b *bench) close() error {
	return errors.Join(b.start.Close(), b.stop.Close(), b.stream.Close())
}

// lost reports whether the device does not work any more. The first Sync may return an error that
// a form left on the stream.
func (b *bench) lost() bool {
	_ = b.stream.Sync()
	return b.stream.Sync() != nil
}

// seriesTime is the least time of work between two events. The start of the first kernel
// takes a few microseconds, which is negligible in comparison.
const seriesTime = 2 * time.Millisecond

// warm is how long a device works before it is measured: an idle device runs slower at
// first.
const warm = 50 * time.Millisecond

// time returns the median time of f over several series, and the number of calls in a
// series. f puts work on the stream.
func (b *bench) time(f func() error) (time.Duration, int, error) {
	if _, err := b.once(1, f); err != nil { // also loads the kernels, which may take a second
		return 0, 0, err
	}
	calls := 1
	for begin, i := time.Now(), 0; i < 2 || time.Since(begin) < warm; i++ {
		took, err := b.once(calls, f)
		if err != nil {
			return 0, 0, err
		}
		calls = int(min(max(seriesTime*time.Duration(calls)/max(took, 1), 1), 200))
	}
	all := make([]time.Duration, *runs)
	for i := range all {
		took, err := b.once(calls, f)
		if err != nil {
			return 0, 0, err
		}
		all[i] = took / time.Duration(calls)
	}
	slices.Sort(all)
	return all[len(all)/2], calls, nil
}

// once returns the time of a number of calls of f.
func (b *bench) once(calls int, f func() error) (time.Duration, error) {
	err := b.stream.Record(b.start)
	for range calls {
		if err == nil {
			err = f()
		}
	}
	if err := errors.Join(err, b.stream.Record(b.stop), b.stream.Sync()); err != nil {
		return 0, err
	}
	return b.stop.Since(b.start)
}

// copy measures copies within the memory of the device: bytes read plus bytes written.
func (b *bench) copy() (err error) {
	src, err := b.dev.Alloc(*bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Free()) }()
	dst, err := b.dev.Alloc(*bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Free()) }()
	took, _, err := b.time(func() error { return b.stream.Copy(dst, 0, src, 0, *bytes) })
	if err != nil {
		return err
	}
	info := b.dev.Info()
	return print(map[string]any{"what": "copy", "device": info.ID, "name": info.Name, "bytes": *bytes,
		"seconds": took.Seconds(), "gb_per_s": 2 * float64(*bytes) / took.Seconds() / 1e9})
}

func print(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }
