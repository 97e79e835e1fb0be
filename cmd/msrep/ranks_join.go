package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// MPI_Init returns on no rank before all ranks have called it. So every rank of a launcher joins
// the others first, whatever its command line, and all hear why one of them can't go on.

// joinVariable is the time limit for that, in seconds. defaultJoin holds where it is not set:
// ranks of one run start within seconds of each other, but may load the program from a slow disk.
const (
	joinVariable = "MSREP_MPI_JOIN_SECONDS"
	defaultJoin  = time.Minute
	maxJoin      = 24 * 60 * 60
)

// joinLimit is the time limit for joining.
func joinLimit() (time.Duration, error) {
	v := os.Getenv(joinVariable)
	if v == "" {
		return defaultJoin, nil
	}
	s, err := strconv.Atoi(v)
	if err != nil || s < 1 || s > maxJoin {
		return 0, usageError("%s: %q: use 1 to %d seconds", joinVariable, v, maxJoin)
	}
	return time.Duration(s) * time.Second, nil
}

// join joins the ranks of the launcher, each with what is wrong with its command line, or nil.
// The comm is nil where there is nobody to join or to leave any more. An error that is not
// cluster.Agreed is of this rank alone.
func (c *call) join(ctx context.Context, size int, parsed error) (rankComm, error) {
	limit, err := joinLimit()
	if err != nil {
		return nil, cmp.Or(parsed, err)
	}
	type outcome struct {
		comm rankComm
		err  error
	}
	met, start := make(chan outcome, 1), startRanks
	go func() {
		comm, err := start()
		if err != nil {
			met <- outcome{nil, cmp.Or(parsed, err)}
			return
		}
		met <- outcome{comm, c.meet(comm, parsed)}
	}()
	select {
	case o := <-met:
		return o.comm, o.err
	case <-ctx.Done(): // some launchers notice that a rank has ended
		return nil, lateError(fmt.Sprintf("interrupted before all %d ranks have joined: one of them has ended before, or has not started", size))
	case <-time.After(limit):
		return nil, cmp.Or[error](parsed, lateError(fmt.Sprintf("not all %d ranks have joined within %v (%s): one of them has ended before, or runs another program", size, limit, joinVariable)))
	}
}

// lateError says that a rank did not join.
type lateError string

func (e lateError) Error() string { return string(e) }

func isLate(err error) bool {
	var late lateError
	return errors.As(err, &late)
}

// greeting is what ranks that meet tell each other.
type greeting struct {
	Host    string
	Program string // which msrep
	Line    string // command line
	Ranks   bool   // of a command for several ranks
}

// meet makes sure that all ranks can go on, and with the same command where it is one for several
// ranks. All ranks get the same error, which is cluster.Agreed, unless MPI fails.
func (c *call) meet(comm cluster.Comm, parsed error) error {
	if err := cluster.Agree(comm, hostName(), parsed); err != nil {
		return err
	}
	own, err := json.Marshal(greeting{
		hostName(), "version " + msrep.Version + " of " + runtime.Version() + " for " + runtime.GOOS + "/" + runtime.GOARCH, c.line, c.ranks,
	})
	if err != nil {
		return err
	}
	all, err := comm.Share(own)
	if err != nil {
		return err
	}
	return cluster.Agree(comm, hostName(), differ(all))
}

// differ says which rank differs from rank 0.
func differ(all [][]byte) error {
	told, together := make([]greeting, len(all)), false
	for r, b := range all {
		if err := json.Unmarshal(b, &told[r]); err != nil {
			return err
		}
		together = together || told[r].Ranks
	}
	if !together {
		return nil
	}
	for _, of := range []struct {
		what string
		own  func(greeting) string
	}{
		{"msrep", func(g greeting) string { return g.Program }},
		{"command line", func(g greeting) string { return g.Line }},
	} {
		first := of.own(told[0])
		for r, g := range told {
			if own := of.own(g); own != first {
				return sparse.Inputf(of.what, "rank 0 on %s has %s, rank %d on %s has %s: it must be the same on all ranks", told[0].Host, first, r, g.Host, own)
			}
		}
	}
	return nil
}
