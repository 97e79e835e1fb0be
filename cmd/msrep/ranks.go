package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// rankComm connects the ranks of a run until it is closed.
type rankComm interface {
	cluster.Comm
	Close() error
}

// startRanks joins the run that a launcher started; nil in an msrep without MPI.
var startRanks func() (rankComm, error)

// launched returns the rank of this process and the number of ranks if an MPI launcher, such as mpirun or srun,
// started it. size is 0 if the launcher does not state it.
func launched() (rank, size int, ok bool) {
	for _, names := range [][2]string{
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, // Open MPI
		{"PMI_RANK", "PMI_SIZE"},                         // MPICH, Slurm with PMI 2
		{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},            // Slurm with PMIx
	} {
		r, err := strconv.Atoi(os.Getenv(names[0]))
		if err != nil {
			continue
		}
		size, _ = strconv.Atoi(os.Getenv(names[1]))
		return r, size, true
	}
	return 0, 0, false
}

// printsMessages reports whether this process prints messages: only rank 0 of several does.
func printsMessages() bool {
	rank, _, _ := launched()
	return rank == 0
}

// team is the ranks that run a command.
type team struct {
	call  *call
	comm  rankComm
	host  string
	sys   *cluster.System
	watch *cluster.Watcher
}

// overRanks calls do, with a team if a launcher started several processes. parsed is the error of the command line or
// nil; a rank reports it to the others.
func (c *call) overRanks(ctx context.Context, parsed error, do func(context.Context) error) error {
	_, size, ok := launched()
	switch {
	case !ok:
		return first(ctx, parsed, do)
	case startRanks == nil && c.ranks && parsed == nil && size > 1:
		return usageError("started as %d ranks, but this msrep was built without MPI: install it with CC=mpicc go install -tags mpi ./cmd/msrep", size)
	case startRanks == nil || !c.ranks && (size < 2 || c.apart):
		c.alone = !c.ranks
		return first(ctx, parsed, do)
	}
	comm, err := c.join(ctx, size, parsed)
	if comm == nil {
		c.alone = true
		if !c.ranks && parsed == nil && !isLate(err) {
			return do(ctx) // the command works without MPI
		}
		return err
	}
	t := &team{call: c, comm: comm, host: hostName()}
	if !c.ranks {
		if err := t.run(ctx, func(context.Context) error { return err }); err != nil {
			return err
		}
		c.alone = true
		return do(ctx)
	}
	c.team = t
	if comm.Rank() != 0 {
		c.stdout, c.quiet = io.Discard, true
	}
	return t.run(ctx, func(ctx context.Context) error { return first(ctx, err, do) })
}

// first returns err if it is not nil, else the result of do.
func first(ctx context.Context, err error, do func(context.Context) error) error {
	if err != nil {
		return err
	}
	return do(ctx)
}

// hostName returns the name of this machine.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// run calls do and then ends the team: it leaves together with the other ranks, or ends them if this rank alone
// fails.
func (t *team) run(ctx context.Context, do func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			t.fail(fmt.Errorf("internal error: %w", crash.Recovered(r)))
		}
	}()
	if err = do(ctx); err != nil && !cluster.Agreed(err) {
		t.fail(err)
	}
	if t.watch != nil {
		if _, e := t.comm.Share(nil); e != nil { // wait until every rank is done
			t.fail(e)
		}
		t.watch.Close()
	}
	var end error
	if t.sys != nil {
		end = t.sys.Close()
	}
	end = errors.Join(end, t.comm.Close())
	t.call.alone = end != nil
	return errors.Join(err, end)
}

// collectAt is the garbage collector's target percentage (debug.SetGCPercent). A low value saves memory and costs
// little here: a rank allocates large arrays, once.
const collectAt = 20

// open opens the devices of all ranks and starts the watch for lost ranks.
func (t *team) open(ctx context.Context, c msrep.Config) (err error) {
	debug.SetGCPercent(collectAt) // nearly all memory of a rank is its part
	if t.sys, err = cluster.Open(t.comm, c); err != nil {
		return err
	}
	w, unwatched, err := cluster.Watch(t.sys, t.lost)
	if err != nil {
		return err
	}
	t.watch = w
	context.AfterFunc(ctx, w.End)
	for _, r := range unwatched {
		t.call.warn(t.sys.Name(r) + " can't be reached over TCP: its failure shows only when the launcher notices it")
	}
	return nil
}

// agree returns the error of any rank on all ranks; without a team it returns err.
func (c *call) agree(err error) error {
	if c.team == nil {
		return err
	}
	return cluster.Agree(c.team.comm, c.team.host, err)
}

// othersFirst is how long a rank waits before it reports a failure that another rank caused, which reports first.
const othersFirst = 2 * time.Second

// fail reports why this rank fails and ends all ranks.
func (t *team) fail(err error) {
	if errors.Is(err, cluster.ErrAborted) {
		time.Sleep(othersFirst)
	}
	if t.watch != nil {
		t.watch.Fail()
	}
	code := exitCode(err)
	t.reportFailure(&cluster.RankError{Rank: t.comm.Rank(), Host: t.host, Err: err})
	t.comm.Abort(code)
	os.Exit(code)
}

// forwardTime is the time that a launcher gets to forward the message of a rank on another host before this rank ends the
// run: Hydra drops messages under way at the end. If the lost rank is on this host, the launcher may end the run
// during the wait, without the message, so there is no wait.
const forwardTime = 200 * time.Millisecond

// lost ends this rank because another rank is gone. err is the reason, or nil if another rank has reported it.
func (t *team) lost(err error) {
	if err != nil {
		t.reportFailure(err)
		if r := (*cluster.RankError)(nil); errors.As(err, &r) && r.Host != t.host {
			time.Sleep(forwardTime)
		}
		t.comm.Abort(exitFailed)
	}
	fileio.RemovePending()
	time.Sleep(othersFirst) // the launcher ends this process meanwhile
	os.Exit(exitFailed)
}

// failureReported is true when this process has printed why the run ends.
var failureReported atomic.Bool

// reportFailure prints why the run ends and removes unfinished files.
func (t *team) reportFailure(err error) {
	failureReported.Store(true)
	fileio.RemovePending()
	t.call.inFlags(err)
	fmt.Fprintf(t.call.stderr, "%s: %s\n", t.call.messagePrefix(), oneLine(err))
}

// create creates the output file on rank 0. It returns nil on other ranks and for an empty path.
func (t *team) create(path string) (*fileio.Out, error) {
	if path == "" || t.comm.Rank() != 0 {
		return nil, nil
	}
	out, err := fileio.Create(path)
	if err != nil {
		return nil, &sparse.InputError{Err: err}
	}
	return out, nil
}

// writeOutput writes a vector to the output file on rank 0.
func writeOutput[V sparse.Value](t *team, path string, v []V) error {
	out, err := t.create(path)
	if out == nil {
		return err
	}
	defer out.Close()
	return writeVector(path, out, v, nil)
}
