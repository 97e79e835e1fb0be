package cpu

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

func TestFewElementsAreJoinedByTheWorkerThatEndsLast(t *testing.T) {
	for left, want := range map[int][][2]int{joinAlone: {{0, 3}}, joinAlone + 1: {{0, 1}, {1, 2}, {2, 3}}} {
		jobs, made := 0, 0
		var joins [][2]int
		run := runner(func(n int, f func(i int)) error {
			jobs++
			for i := range n {
				f(i)
			}
			return nil
		})
		err := run.joined(3, func(int) { made++ }, func() int {
			require.Equal(t, 3, made, "all calls are over")
			return left
		}, func(i, end int) { joins = append(joins, [2]int{i, end}) })
		require.NoError(t, err)
		require.Equal(t, want, joins)
		require.Equal(t, map[bool]int{true: 1, false: 2}[len(want) == 1], jobs)
	}
}

func TestTheLengthOfAProductAndItsCallerDecideWhetherWorkersGetAJob(t *testing.T) {
	cpus, err := numa.Affinity()
	if err != nil {
		t.Skip(err)
	}
	for _, placed := range []bool{false, true} {
		c := Config{Threads: 2, NUMANode: -1}
		if placed {
			c.CPUs = cpus[:1]
		}
		d := open(t, c)
		s, err := d.NewStream()
		require.NoError(t, err)
		for rows, short := range map[int]bool{3000: true, 10_000: false} { // 9 entries each
			op := bandPart(rows)
			op.Products = 1
			p := mustPack(t, d, op)
			x, y := make([]float64, rows), make([]float64, rows)
			gives := func(op kernels.Operation) bool {
				time.Sleep(2 * spinTime) // a later short product does wake workers
				require.Eventually(t, func() bool { return d.pool.workers[0].wait.asleep.Load() != awake }, 10*time.Second, time.Millisecond)
				given := d.pool.given
				require.NoError(t, s.Launch(op))
				return d.pool.given != given
			}
			for _, scatters := range []bool{false, true} {
				alone := gives(&kernels.HostProduct[float64]{A: p, Alpha: 1, X: x, Y: y, Minor: scatters, NoWorkers: true})
				require.Equal(t, placed, alone, "placed workers always do the job: the memory is on their node")
				all := gives(&kernels.HostProduct[float64]{A: p, Alpha: 1, X: x, Y: y, Minor: scatters})
				require.Equal(t, placed || !short, all, "%d rows", rows)
			}
			require.Equal(t, placed || !short, gives(&kernels.MajorProductPacked[float64]{A: p, Alpha: 1, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)}))
			require.NoError(t, p.Free())
		}
		require.NoError(t, d.Close())
	}
}
