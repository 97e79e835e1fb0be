package cluster_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/cluster/internal/commtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestLocalFulfilsComm(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		for r, err := range cluster.Run(n, commtest.Check) {
			require.NoError(t, err, "rank %d of %d", r, n)
		}
	}
}

func TestARankThatFailsEndsTheOthers(t *testing.T) {
	broken := errors.New("broken")
	for name, wait := range map[string]func(c cluster.Comm) error{
		"in a sum": func(c cluster.Comm) error { return c.Sum(make([]float64, 1)) },
		"in a link": func(c cluster.Comm) error {
			l, err := c.Link(nil, []cluster.Message{{Rank: 1, Data: make([]byte, 1)}})
			if err != nil {
				return err
			}
			return l.Wait()
		},
	} {
		errs := cluster.Run(3, func(c cluster.Comm) error {
			if c.Rank() == 1 {
				return broken
			}
			return wait(c)
		})
		require.ErrorIs(t, errs[0], cluster.ErrAborted, name)
		require.ErrorIs(t, errs[1], broken, name)
		require.ErrorIs(t, errs[2], cluster.ErrAborted, name)
	}
}

func TestAnErrorOfOneRankIsKnownToAll(t *testing.T) {
	odd := &sparse.InputError{Subject: "m.mtx", Line: 3, Msg: "is odd", Err: io.EOF}
	for message, own := range map[string]error{
		"m.mtx:3: is odd: EOF":          odd,
		"reading: m.mtx:3: is odd: EOF": fmt.Errorf("reading: %w", odd),
		"device lost":                   errors.New("device lost"),
	} {
		for _, err := range cluster.Run(3, func(c cluster.Comm) error {
			var err error
			if c.Rank() == 1 {
				err = own
			}
			return cluster.Agree(c, "host-"+string(rune('a'+c.Rank())), err)
		}) {
			require.EqualError(t, err, "rank 1 on host-b: "+message)
			require.Equal(t, sparse.IsInput(own), sparse.IsInput(err))
			var bad *sparse.InputError
			if own == error(odd) && errors.As(err, &bad) {
				require.Equal(t, []any{"m.mtx", int64(3)}, []any{bad.Subject, bad.Line}, "on all ranks")
			}
		}
	}
	for _, err := range cluster.Run(3, func(c cluster.Comm) error {
		return cluster.Agree(c, "h", sparse.Inputf("m.mtx", "is odd"))
	}) {
		require.EqualError(t, err, "m.mtx: is odd", "all say the same")
	}
	for _, err := range cluster.Run(3, func(c cluster.Comm) error { return cluster.Agree(c, "h", nil) }) {
		require.NoError(t, err)
	}
}
