package multifrontal

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATaskRunsAfterTheTasksThatItWaitsFor(t *testing.T) {
	const leaves = 40
	for _, size := range []int{1, 2, 7} {
		var done, parts, last atomic.Int32
		ready := make([]int32, leaves)
		for i := range ready {
			ready[i] = int32(i)
		}
		err := runTasks(size, leaves+1, ready, func(team *team, _ int, task int32) (int32, error) {
			if task == leaves {
				last.Store(done.Load())
				team.each(9, func(int) { parts.Add(1) })
				return none, nil
			}
			team.each(3, func(int) { parts.Add(1) })
			if done.Add(1) == leaves {
				return leaves, nil
			}
			return none, nil
		})
		require.NoError(t, err)
		require.EqualValues(t, leaves, last.Load())
		require.EqualValues(t, 3*leaves+9, parts.Load())
	}
}

func TestATeamStopsAtAnErrorOrPanic(t *testing.T) {
	broken := errors.New("broken")
	for _, size := range []int{1, 2, 7} {
		ready := []int32{0, 1, 2, 3}
		err := runTasks(size, 5, append([]int32(nil), ready...), func(_ *team, _ int, task int32) (int32, error) {
			if task == 3 {
				return none, broken
			}
			return none, nil
		})
		require.ErrorIs(t, err, broken)
		require.Panics(t, func() {
			_ = runTasks(size, 5, append([]int32(nil), ready...), func(team *team, _ int, task int32) (int32, error) {
				team.each(8, func(i int) {
					if task == 3 && i == 7 {
						panic("a part")
					}
				})
				return none, nil
			})
		})
	}
}
