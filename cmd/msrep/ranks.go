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

// rankComm joins the ranks of a run until it is closed.
type rankComm interface {
	cluster.Comm
	Close() error
}

// startRanks joins the run that a launcher has started; nil in a msrep without MPI.
var startRanks func() (rankComm, error)

// launched says whether a launcher of MPI, such as mpirun or srun, has started this
// process, as which rank, and of how many; 0 where it does not tell.
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

// speaks reports whether this process prints messages: of several ranks the first one.
func speaks() bool {
	rank, _, _ := launched()
	return rank == 0
}

// team is the ranks that a command runs on.
type team struct {
	call  *call
	comm  rankComm
	host  string
	sys   *cluster.System
	watch *cluster.Watcher
}

// overRanks calls do, on a team where a launcher has started several processes. parsed is what is
// wrong with the command line, which a rank tells the others.
func (c *call) overRanks(ctx context.Context, parsed error, do func(context.Context) error) error {
	_, size, ok := launched()
	switch {
	case !ok:
		return first(ctx, parsed, do)
	case startRanks == nil && c.ranks && parsed == nil && size > 1:
		return usageError("started as %d ranks, but this msrep was built without MPI: install it by CC=mpicc go install -tags mpi ./cmd/msrep", size)
	case startRanks == nil || !c.ranks && (size < 2 || c.apart):
		c.alone = !c.ranks
		return first(ctx, parsed, do)
	}
	comm, err := c.join(ctx, size, parsed)
	if comm == nil {
		c.alone = true
		if !c.ranks && parsed == nil && !isLate(err) {
			return do(ctx) // it can do without MPI
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

// first is err, or else what do gives.
func first(ctx context.Context, err error, do func(context.Context) error) error {
	if err != nil {
		return err
	}
	return do(ctx)
}

// hostName is the name of this machine.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// run does the work and ends it: together with the other ranks, or by ending them where
// this one fails alone.
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
		if _, e := t.comm.Share(nil); e != nil { // nobody leaves before all are done
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

// collectAt is how much garbage there may be before it is collected, in percent of what
// is in use. There is little of it: large arrays, made once.
const collectAt = 20

// open opens the devices of all ranks, and has them look after each other.
func (t *team) open(ctx context.Context, c msrep.Config) (err error) {
	debug.SetGCPercent(collectAt) // a rank has its part in memory and little else
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
		t.call.warn(t.sys.Name(r) + " can't be reached over TCP: that it fails shows only when the launcher notices")
	}
	return nil
}

// agree makes an error of one rank known to all; without a team it gives it back.
func (c *call) agree(err error) error {
	if c.team == nil {
		return err
	}
	return cluster.Agree(c.team.comm, c.team.host, err)
}

// How long a rank that fails as another one did lets that one speak.
const othersFirst = 2 * time.Second

// fail says why this rank fails and ends all of them.
func (t *team) fail(err error) {
	if errors.Is(err, cluster.ErrAborted) {
		time.Sleep(othersFirst)
	}
	if t.watch != nil {
		t.watch.Fail()
	}
	code := exitCode(err)
	t.tell(&cluster.RankError{Rank: t.comm.Rank(), Host: t.host, Err: err})
	t.comm.Abort(code)
	os.Exit(code)
}

// passOn is how long a launcher has to pass a message on before this rank ends the run:
// Hydra drops what is under way then. Where the rank that is gone is on this host it
// would end the run itself meanwhile, at times without the message.
const passOn = 200 * time.Millisecond

// lost ends this rank because another one is gone; err says why if nobody has done so.
func (t *team) lost(err error) {
	if err != nil {
		t.tell(err)
		if r := (*cluster.RankError)(nil); errors.As(err, &r) && r.Host != t.host {
			time.Sleep(passOn)
		}
		t.comm.Abort(exitFailed)
	}
	fileio.RemovePending()
	time.Sleep(othersFirst) // the launcher ends this process
	os.Exit(exitFailed)
}

// told says that this process has printed why the run ends.
var told atomic.Bool

// tell prints why the run ends and removes what it leaves.
func (t *team) tell(err error) {
	told.Store(true)
	fileio.RemovePending()
	t.call.inFlags(err)
	fmt.Fprintf(t.call.stderr, "%s: %s\n", t.call.who(), oneLine(err))
}

// create starts the output file of rank 0; nil elsewhere, and where path is empty.
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

// writeOutput writes a vector to the output file of rank 0, if there is one.
func writeOutput[V sparse.Value](t *team, path string, v []V) error {
	out, err := t.create(path)
	if out == nil {
		return err
	}
	defer out.Close()
	return writeVector(out, v, nil)
}
