// Package record keeps what a run measured, as the file results.json, and compares
// two of them.
package record

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/msrep-go/msrep/bench/measure"
	"github.com/msrep-go/msrep/sparse"
)

// Source says where a figure comes from.
type Source string

// The sources. A modelled time was computed, never measured.
const (
	Measured Source = "measured"
	Modelled Source = "modelled"
)

// Record is one run.
type Record struct {
	Schema  int             `json:"schema"` // 1
	Started time.Time       `json:"started"`
	Command []string        `json:"command"`
	Machine measure.Machine `json:"machine"`
	Rows    []Row           `json:"rows"`
	Runs    int             `json:"runs,omitempty"` // that were merged into one
}

// Row is one quantity of one case. Times are in seconds.
type Row struct {
	Experiment string `json:"experiment"`
	Case       string `json:"case"`     // matrix, format, strategy, devices
	Quantity   string `json:"quantity"` // kernel, merge, ...
	Source     Source `json:"source"`
	measure.Summary
	Samples []float64 `json:"samples,omitempty"`
}

// Key names the row within a record.
func (r Row) Key() string { return r.Experiment + "  " + r.Case + "  " + r.Quantity }

// schema of the files that this version writes and reads.
const schema = 1

// New starts the record of a run on this machine by a version of the program.
func New(version string, command []string) *Record {
	return &Record{Schema: schema, Started: time.Now().UTC().Truncate(time.Second), Command: command, Machine: measure.Describe(version)}
}

// Add appends a row of measured samples.
func (r *Record) Add(experiment, name, quantity string, samples []float64) Row {
	row := Row{Experiment: experiment, Case: name, Quantity: quantity, Source: Measured, Summary: measure.Summarize(samples), Samples: samples}
	r.Rows = append(r.Rows, row)
	return row
}

// AddModelled appends a time that was computed.
func (r *Record) AddModelled(experiment, name, quantity string, seconds float64) Row {
	row := Row{Experiment: experiment, Case: name, Quantity: quantity, Source: Modelled, Summary: measure.Summarize([]float64{seconds})}
	r.Rows = append(r.Rows, row)
	return row
}

// Write writes the record as JSON.
func (r *Record) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// maxFile bounds the files that Read takes: those of all experiments are a
// hundred times smaller.
const maxFile = 1 << 30

// Read reads a file that Write wrote. Errors are *sparse.InputError.
func Read(path string) (*Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &sparse.InputError{Err: err}
	}
	defer f.Close()
	r := &Record{}
	if err := json.NewDecoder(io.LimitReader(f, maxFile)).Decode(r); err != nil {
		return nil, &sparse.InputError{File: path, Err: fmt.Errorf("it must be a results.json of msrep bench: %w", err)}
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
