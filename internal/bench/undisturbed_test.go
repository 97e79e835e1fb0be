package bench

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestInterruptedRunsDoNotCount(t *testing.T) {
	for _, c := range []struct {
		reps, every, runs, count int
		told                     string
	}{
		{10, 0, 10, 10, "10/10"}, // none is disturbed
		{10, 2, 19, 10, "10/19"}, // every second run is disturbed
		{10, 1, 50, 50, "0/50~"}, // all runs are disturbed, so all count
		{3, 1, 15, 15, "0/15~"},
		{2, 0, 2, 2, "2/2"},
	} {
		var runs, interruptions int64
		u, err := timeUndisturbed(c.reps, func() error {
			runs++
			if c.every > 0 && runs%int64(c.every) == 0 {
				interruptions++
			}
			return nil
		}, func() int64 { return interruptions })
		require.NoError(t, err)
		require.EqualValues(t, c.runs, runs)
		require.Equal(t, c.told, u.String())
		require.Len(t, u.times, c.count)
		require.Equal(t, c.every == 1, u.few)
	}
	bad := errors.New("bad")
	_, err := timeUndisturbed(3, func() error { return bad }, interrupted)
	require.ErrorIs(t, err, bad)
}

func TestTheTypicalTimeIsTheMedianOfUndisturbedRuns(t *testing.T) {
	u := undisturbed{times: []time.Duration{1, 2, 3, 4, 5, 6, 7, 8}}
	require.EqualValues(t, 5, u.typical())
	u.few = true
	require.EqualValues(t, 3, u.typical())
}
