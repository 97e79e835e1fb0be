package workers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFewElementsAreJoinedByTheWorkerThatEndsLast(t *testing.T) {
	for left, want := range map[int][][2]int{joinAlone: {{0, 3}}, joinAlone + 1: {{0, 1}, {1, 2}, {2, 3}}} {
		jobs, made := 0, 0
		var joins [][2]int
		run := Runner(func(n int, f func(i int)) error {
			jobs++
			for i := range n {
				f(i)
			}
			return nil
		})
		err := run.Joined(3, func(int) { made++ }, func() int {
			require.Equal(t, 3, made, "all calls are over")
			return left
		}, func(i, end int) { joins = append(joins, [2]int{i, end}) })
		require.NoError(t, err)
		require.Equal(t, want, joins)
		require.Equal(t, map[bool]int{true: 1, false: 2}[len(want) == 1], jobs)
	}
}
