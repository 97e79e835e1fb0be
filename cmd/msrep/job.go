package main

import (
	"context"
	"errors"
	"time"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// job is a matrix, and the devices that work on it.
type job struct {
	sys   *msrep.System
	m     *matio.Matrix
	out   *fileio.Out // for the vector that comes out; nil for none
	begin time.Time   // of reading
	read  time.Duration
}

// onMatrix opens the devices, reads the matrix of the first argument, does the work and
// closes both. out is the file for the vector that comes out, "" for none: a place that
// cannot be written to is found before the work is done.
func (c *call) onMatrix(ctx context.Context, out string, config msrep.Config, do func(j *job) error) (err error) {
	j := &job{}
	if out != "" {
		if j.out, err = fileio.Create(out); err != nil {
			return &sparse.InputError{Err: err}
		}
		defer j.out.Close()
	}
	config.Devices, config.Threads, config.Warn = c.devices, c.threads, c.warn
	if j.sys, err = msrep.Open(config); err != nil {
		return err
	}
	j.begin = time.Now()
	if j.m, err = matio.Read(ctx, c.args[0]); err != nil {
		return errors.Join(err, j.sys.Close())
	}
	j.read = time.Since(j.begin)
	err = do(j)
	return errors.Join(err, j.sys.Close(), j.m.Close())
}
