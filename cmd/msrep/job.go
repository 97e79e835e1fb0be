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

// job is a matrix, and the devices that work on it.
type job struct {
	sys   *msrep.System
	m     *matio.Matrix
	out   *fileio.Out // for the vector that comes out; nil for none
	begin time.Time   // of reading
	read  time.Duration
}

// onMatrix opens the devices, reads the matrix of the first argument, does the work and
// closes both. opts say how it is read. out is the file for the vector that comes out, "" for none: a place that
// cannot be written to is found before the work is done.
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

// onRanks opens the devices of all ranks, and each reads its rows of the matrix of the first argument, which begin at
// a multiple of align. A place for out that cannot be written to is found before the work is done: the file itself comes at
// the end, as a launcher that kills all ranks leaves nothing of it then.
func (c *call) onRanks(ctx context.Context, out string, config msrep.Config, align int) (m *cluster.Matrix[float64], read time.Duration, err error) {
	t := c.team
	file, err := t.create(out)
	if file != nil {
		err = file.Close()
	}
	if err := c.agree(err); err != nil {
		return nil, 0, err
	}
	config.Devices, config.Threads, config.Warn = c.devices, c.threads, c.warn
	if err := t.open(ctx, config); err != nil {
		return nil, 0, err
	}
	begin := time.Now()
	m, src, err := cluster.Read(ctx, t.sys, c.args[0], cluster.Align(align))
	if err == nil {
		c.note(c.args[0], src)
	}
	return m, time.Since(begin), err
}
