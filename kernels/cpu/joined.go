package cpu

import "sync/atomic"

// runner calls f(0) ... f(n-1), which together make a product, and waits: pool.run or one of its like.
type runner func(n int, f func(i int)) error

// joinAlone is how many elements of y are joined sooner by one worker than by another job of all.
const joinAlone = 1 << 12

// joined calls f(0) ... f(n-1) and, when all are over, join(i, i+1) for each of them. Where left tells
// then that few elements are to be joined the worker that ends last does it by itself: join(0, n).
func (run runner) joined(n int, f func(i int), left func() int, join func(i, end int)) error {
	if n == 1 {
		return run(1, f)
	}
	var ended atomic.Int32
	over := false
	err := run(n, func(i int) {
		f(i)
		if int(ended.Add(1)) == n && left() <= joinAlone {
			join(0, n)
			over = true
		}
	})
	if err != nil || over {
		return err
	}
	return run(n, func(i int) { join(i, i+1) })
}
