package space

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// local is a preconditioner without messages, shared one with messages.
type local struct{}

func (local) Size() int                  { return 0 }
func (local) Apply(_, _ []float64) error { return nil }

type shared struct{ local }

func (shared) Collective() bool { return true }

func TestACollectivePreconditionerRunsUntilAllProcessesKnowOfAnError(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		m     preconditioner
		procs *Processes
		runs  bool
	}{
		{local{}, &Processes{}, false},
		{shared{}, &Processes{}, true},
		{shared{}, &Processes{failureKnown: true}, false},
		{shared{}, nil, false},
	} {
		w, ran := work{procs: c.procs, Err: failed}, false
		w.precondition(c.m, func() error {
			ran = true
			return errors.New("another")
		})
		require.Equal(t, c.runs, ran)
		require.Equal(t, failed, w.Err, "the first error stays")
	}
}
