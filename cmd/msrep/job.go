package main

import (
	"context"
	"errors"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// job is a matrix and the devices that work on it.
type job struct {
	sys   *msrep.System
	m     *matio.Matrix
	out   *fileio.Out // output file of the resulting vector; nil for none
	begin time.Time   // start of reading
	read  time.Duration
}

// onMatrix opens the devices, reads the matrix of the first argument with opts, runs do and closes both. out names
// the file of the resulting vector, "" for none; onMatrix creates it first, so an unwritable path fails before the
// work.
func (c *call) onMatrix(ctx context.Context, out string, config msrep.Config, do func(j *job) error, opts ...matio.Option) (err error) {
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
	if j.m, err = matio.Read(ctx, c.args[0], opts...); err != nil {
		return errors.Join(err, j.sys.Close())
	}
	c.note(c.args[0], j.m.Source)
	j.read = time.Since(j.begin)
	err = do(j)
	return errors.Join(err, j.sys.Close(), j.m.Close())
}

// onRanks opens the devices of all ranks. Each rank reads its rows of the matrix of the first argument; its first row
// is a multiple of align. onRanks checks first that out can be written. writeOutput creates the file at the end,
// because a launcher that kills the ranks would otherwise leave a partial file.
func (c *call) onRanks(ctx context.Context, out string, config msrep.Config, align int) (m *cluster.Matrix[float64], src sparse.Source, read time.Duration, err error) {
	t := c.team
	file, err := t.create(out)
	if file != nil {
		err = file.Close()
	}
	if err := c.agree(err); err != nil {
		return nil, src, 0, err
	}
	config.Devices, config.Threads, config.Warn = c.devices, c.threads, c.warn
	if err := t.open(ctx, config); err != nil {
		return nil, src, 0, err
	}
	begin := time.Now()
	m, src, err = cluster.Read(ctx, t.sys, c.args[0], cluster.Align(align))
	if err == nil {
		c.note(c.args[0], src)
	}
	return m, src, time.Since(begin), err
}
