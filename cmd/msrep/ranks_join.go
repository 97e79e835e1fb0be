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

// MPI_Init returns only after all ranks have called it. So every rank of a launcher joins the others first, whatever
// its command line, and all ranks learn why one of them cannot continue.

// joinVariable names the environment variable with the time limit for joining, in seconds. defaultJoin applies
// without it: the ranks of a run start within seconds of each other, but may load the program from a slow disk.
const (
	joinVariable = "MSREP_MPI_JOIN_SECONDS"
	defaultJoin  = time.Minute
	maxJoin      = 24 * 60 * 60
)

// joinLimit returns the time limit for joining.
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

// join joins the ranks of the launcher and passes on parsed, the error of this rank's command line or nil. The
// returned comm is nil if joining failed. An error that is not cluster.Agreed concerns this rank alone.
func (c *call) join(ctx context.Context, size int, parsed error) (rankComm, error) {
	limit, err := joinLimit()
	if err != nil {
		return nil, cmp.Or(parsed, err)
	}
	type outcome struct {
		comm rankComm
		err  error
	}
	joined, start := make(chan outcome, 1), startRanks
	go func() {
		comm, err := start()
		if err != nil {
			joined <- outcome{nil, cmp.Or(parsed, err)}
			return
		}
		joined <- outcome{comm, c.checkGreetings(comm, parsed)}
	}()
	select {
	case o := <-joined:
		return o.comm, o.err
	case <-ctx.Done(): // some launchers end the others when a rank has ended
		return nil, lateError(fmt.Sprintf("interrupted before all %d ranks have joined: one of them has ended before, or has not started", size))
	case <-time.After(limit):
		return nil, cmp.Or[error](parsed, lateError(fmt.Sprintf("not all %d ranks have joined within %v (%s): one of them has ended before, or runs another program", size, limit, joinVariable)))
	}
}

// lateError is the error of a rank that waited in vain for the others.
type lateError string

func (e lateError) Error() string { return string(e) }

func isLate(err error) bool {
	var late lateError
	return errors.As(err, &late)
}

// greeting is what each rank sends to the others when it joins.
type greeting struct {
	Host    string
	Program string // version and platform of msrep
	Line    string // command line
	Ranks   bool   // whether the command runs on several ranks
}

// checkGreetings returns the same error on all ranks if one of them has a wrong command line, or if a command for
// several ranks was started with different ones. The error is cluster.Agreed, unless MPI fails.
func (c *call) checkGreetings(comm cluster.Comm, parsed error) error {
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

// differ returns an error that names the first rank whose program or command line differs from rank 0's.
func differ(all [][]byte) error {
	greetings, together := make([]greeting, len(all)), false
	for r, b := range all {
		if err := json.Unmarshal(b, &greetings[r]); err != nil {
			return err
		}
		together = together || greetings[r].Ranks
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
		first := of.own(greetings[0])
		for r, g := range greetings {
			if own := of.own(g); own != first {
				return sparse.Inputf(of.what, "rank 0 on %s has %s, rank %d on %s has %s: it must be the same on all ranks", greetings[0].Host, first, r, g.Host, own)
			}
		}
	}
	return nil
}
