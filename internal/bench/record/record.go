// Package record stores the results of a run in the file results.json and compares two such files.
package record

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
)

// Source is the origin of a figure.
type Source string

// The sources. A modelled time is computed, not measured. Counted is a number of events that the interpreter of GPU
// code counted, and no time.
const (
	Measured Source = "measured"
	Modelled Source = "modelled"
	Counted  Source = "counted"
)

// Record is one run.
type Record struct {
	Schema  int             `json:"schema"` // 1
	Started time.Time       `json:"started"`
	Command []string        `json:"command"`
	Machine measure.Machine `json:"machine"`
	Rows    []Row           `json:"rows"`
	Runs    int             `json:"runs,omitempty"` // number of merged runs

	at   map[string]int // index of each measured row by its key
	last int            // row that Add changed last
}

// Row is one quantity of one case. Times are in seconds, counts in events.
type Row struct {
	Experiment string `json:"experiment"`
	Case       string `json:"case"`     // matrix, format, strategy, devices
	Quantity   string `json:"quantity"` // kernel, merge, ...
	Source     Source `json:"source"`
	measure.Summary
	Samples []float64 `json:"samples,omitempty"`
	// Bytes is the least number of bytes that the case moves: matrix and vectors once each, in the format of the
	// case. 0 if unknown.
	Bytes int64 `json:"bytes,omitempty"`
	// OfBandwidth is Bytes over the median time, as a fraction of the speed of pure reads in the same run. It may
	// exceed 1 if Cached is set.
	OfBandwidth float64 `json:"of_bandwidth,omitempty"`
	// Cached is true if Bytes is at most four times the size of the last-level cache and the caches were not emptied.
	// Then part or all of the bytes come from the cache, and OfBandwidth does not measure the memory.
	Cached bool `json:"cached,omitempty"`
}

// Key identifies the row within a record.
func (r Row) Key() string { return r.Experiment + "  " + r.Case + "  " + r.Quantity }

// schema is the version of the file format that this package reads and writes.
const schema = 1

// New starts the record of a run on this machine. version is the version of the program.
func New(version string, command []string) *Record {
	return &Record{Schema: schema, Started: time.Now().UTC().Truncate(time.Second), Command: command, Machine: measure.Describe(version)}
}

// Add appends a row with measured samples, or adds the samples to the row of the same name, and returns the row.
func (r *Record) Add(experiment, name, quantity string, samples []float64) Row {
	row := Row{Experiment: experiment, Case: name, Quantity: quantity, Source: Measured}
	i, ok := r.at[row.Key()]
	if !ok {
		if r.at == nil {
			r.at = map[string]int{}
		}
		i = len(r.Rows)
		r.at[row.Key()] = i
		r.Rows = append(r.Rows, row)
	}
	r.last = i
	r.Rows[i].Samples = append(slices.Clip(r.Rows[i].Samples), samples...)
	r.Rows[i].Summary = measure.Summarize(r.Rows[i].Samples)
	return r.Rows[i]
}

// AddModelled appends a computed time.
func (r *Record) AddModelled(experiment, name, quantity string, seconds float64) Row {
	return r.append(experiment, name, quantity, Modelled, seconds)
}

// AddCounted appends a number of events.
func (r *Record) AddCounted(experiment, name, quantity string, events float64) Row {
	return r.append(experiment, name, quantity, Counted, events)
}

func (r *Record) append(experiment, name, quantity string, source Source, value float64) Row {
	row := Row{Experiment: experiment, Case: name, Quantity: quantity, Source: source, Summary: measure.Summarize([]float64{value})}
	r.Rows = append(r.Rows, row)
	return row
}

// Moves sets the Bytes of the row that Add changed last.
func (r *Record) Moves(bytes int64) { r.Rows[r.last].Bytes = bytes }

// JudgeBytes sets OfBandwidth of all measured rows; the bandwidth of the machine must be known. cold means that the
// caches were emptied before each sample.
func (r *Record) JudgeBytes(cold bool) {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Source == Measured && row.Bytes > 0 && row.Median > 0 && r.Machine.Bandwidth > 0 {
			row.OfBandwidth = float64(row.Bytes) / row.Median / r.Machine.Bandwidth
			row.Cached = !cold && row.Bytes <= 4*int64(r.Machine.L3)
		}
	}
}

// Write writes the record as JSON.
func (r *Record) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// maxFile is the limit of the size of a file that Read accepts. The file of all experiments is a hundred times
// smaller.
const maxFile = 1 << 30

// Read reads a file that Write wrote. Its errors are *sparse.InputError.
func Read(path string) (*Record, error) {
	f, err := fileio.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &Record{}
	if err := json.NewDecoder(io.LimitReader(f, maxFile)).Decode(r); err != nil {
		return nil, &sparse.InputError{Subject: path, Err: fmt.Errorf("it must be a results.json of msrep bench: %w", err)}
	}
	if r.Schema != schema {
		return nil, sparse.Inputf(path, "schema %d is not known: it must be a results.json of msrep bench with schema %d", r.Schema, schema)
	}
	for _, row := range r.Rows {
		for _, s := range row.Samples {
			if !(s >= 0) || math.IsInf(s, 0) {
				return nil, sparse.Inputf(path, "%s has the sample %g: times are 0 or more", row.Key(), s)
			}
		}
	}
	return r, nil
}
